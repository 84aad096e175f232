import { posix } from 'node:path'
import { absolutePath, descriptorOf, leadsTo } from '../absolute-path.ts'
import { type Arg, argOf, type Program, type ProgramCall, type ShellState } from '../interpreter.ts'
import { type Options, readOptions } from '../options.ts'
import { withFile, withMade } from '../state.ts'
import { isKnown } from '../unknown.ts'

/** Programs that make one file out of another: the last word is where it goes, or the directory it goes into. */
export const copies: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['cp', copy],
  ['gcp', copy],
  ['install', install],
  ['ginstall', install],
  ['mv', move],
  ['gmv', move],
  ['ln', link],
  ['gln', link],
  ['link', link],
  ['rsync', rsync],
  ['scp', scp],
  ['ditto', copy],
])

const copyValued = ['t', 'target-directory', 'S', 'suffix']

function copy(invocation: ProgramCall): ShellState | null {
  const options = readOptions(invocation.args, copyValued)
  const deep = ['r', 'R', 'a', 'recursive', 'archive'].some((name) => options.given.has(name))
  const hard = options.given.has('l') || options.given.has('link')
  const soft = options.given.has('s') || options.given.has('symbolic-link')
  let { state } = invocation
  for (const { source, target } of pairs(invocation, options)) {
    const from = absolutePath(source.value, state.cwd)
    if (hard) invocation.shell.write(source, 'makes a hard link to it', state, { entry: true })
    invocation.shell.write(target, `${invocation.name} writes it`, state, deep ? { look: from } : {})
    const [suffix] = options.values('S', 'suffix')
    if (suffix !== undefined)
      invocation.shell.write(
        { value: `${target.value}${suffix.value}`, text: target.text },
        `${invocation.name} keeps a copy in it`,
        state,
      )
    const keepsLinks = ['a', 'd', 'P', 'R', 'archive', 'no-dereference'].some((name) =>
      options.given.has(name),
    )
    state = soft ? linked(state, source, target) : copied(state, source, target)
    if (keepsLinks && isLink(from, invocation))
      state = linked(state, { value: from, text: source.text }, target)
  }
  return state
}

function install(invocation: ProgramCall): ShellState | null {
  const valued = [...copyValued, 'm', 'mode', 'o', 'owner', 'g', 'group']
  const options = readOptions(invocation.args, valued)
  if (options.given.has('d') || options.given.has('directory')) {
    for (const each of options.operands) invocation.shell.write(each, 'install -d makes it', invocation.state)
    return null
  }
  let { state } = invocation
  for (const { source, target } of pairs(invocation, options)) {
    invocation.shell.write(target, 'install writes it', invocation.state, { entry: true })
    state = copied(state, source, target)
  }
  return state
}

function move(invocation: ProgramCall): ShellState | null {
  const { shell } = invocation
  let { state } = invocation
  for (const { source, target } of pairs(invocation, readOptions(invocation.args, copyValued))) {
    const from = absolutePath(source.value, state.cwd)
    shell.write(source, 'moves it away', state, { entry: true, look: from })
    shell.write(target, 'moves another file to its place', state, { entry: true, look: from })
    // Under its new name it is what it was: perhaps a link, perhaps one of several names.
    state = copied(linked(state, { value: from, text: source.text }, target), source, target)
  }
  return state
}

function link(invocation: ProgramCall): ShellState | null {
  const { shell } = invocation
  const options = readOptions(invocation.args, copyValued)
  const soft = options.given.has('s') || options.given.has('symbolic')
  let { state } = invocation
  const single = options.operands.length === 1 ? options.operands[0] : undefined
  const links =
    single === undefined
      ? pairs(invocation, options)
      : [{ source: single, target: argOf(posix.basename(single.value)) }]
  for (const { source, target } of links) {
    if (!soft) shell.write(source, 'makes a hard link to it', state)
    shell.write(target, 'puts a link in its place', state, { entry: true })
    if (soft) state = linked(state, source, target)
  }
  return state
}

function rsync(invocation: ProgramCall): ShellState | null {
  const valued = [
    'e',
    'rsh',
    'f',
    'filter',
    'exclude',
    'include',
    'exclude-from',
    'include-from',
    'files-from',
  ]
  const more = ['T', 'temp-dir', 'log-file', 'B', 'bwlimit', 'compare-dest', 'link-dest', 'backup-dir']
  const { given, operands, values } = readOptions(invocation.args, [...valued, ...more])
  const target = operands.at(-1)
  if (operands.length < 2 || target === undefined || given.has('n') || given.has('dry-run')) return null
  const { shell, state } = invocation
  for (const file of values('log-file')) shell.write(file, 'rsync logs to it', state)
  for (const source of operands.slice(0, -1)) {
    const from = absolutePath(source.value, state.cwd)
    if (given.has('remove-source-files')) shell.write(source, 'rsync removes it', state, { look: from })
    if (isRemote(target.value)) continue
    const whole = source.value.endsWith('/')
    const into = whole || isRemote(source.value) ? target : place(invocation, source, target)
    shell.write(into, 'rsync writes it', state, isRemote(source.value) ? {} : { look: from })
    if (/\bdelete/.test([...given].join(' ')))
      shell.write(target, 'rsync --delete removes it', state, { look: absolutePath(target.value, state.cwd) })
  }
  return null
}

function scp(invocation: ProgramCall): ShellState | null {
  const options = readOptions(invocation.args, ['i', 'P', 'F', 'o', 'J', 'c', 'l', 'S', 'D'])
  for (const { target } of pairs(invocation, options))
    if (!isRemote(target.value)) invocation.shell.write(target, 'scp writes it', invocation.state)
  return null
}

function isRemote(value: string): boolean {
  return /^[^/]+:/.test(value)
}

function pairs(
  invocation: ProgramCall,
  options: Options,
): readonly { readonly source: Arg; readonly target: Arg }[] {
  const [directory] = options.values('t', 'target-directory')
  const sources = directory === undefined ? options.operands.slice(0, -1) : options.operands
  const target = directory ?? options.operands.at(-1)
  if (target === undefined) return []
  const exact = options.given.has('T') || options.given.has('no-target-directory')
  return sources.map((source) => ({
    source,
    target: exact ? target : place(invocation, source, target, directory !== undefined || sources.length > 1),
  }))
}

/** Where a file lands: in the target when that is a directory. */
function place({ shell, state }: ProgramCall, source: Arg, target: Arg, surely = false): Arg {
  const path = absolutePath(target.value, state.cwd)
  const directory =
    surely ||
    /(?:^|\/)\.{0,2}\/?$/.test(target.value) ||
    state.made.directories.has(path) ||
    (isKnown(path) && shell.world.resolve(path).kind === 'directory')
  if (!directory) return target
  const name = posix.basename(source.value.replace(/^[^/]*:/, ''))
  if (name === '' || name === '.' || name === '..') return target
  return { value: `${target.value.replace(/\/$/, '')}/${name}`, text: `${target.text} (${name})` }
}

function isLink(path: string, { state, shell }: ProgramCall): boolean {
  if (!isKnown(path)) return false
  return leadsTo(path, state).length > 1 || shell.world.resolve(path).real !== posix.normalize(path)
}

function linked(state: ShellState, source: Arg, target: Arg): ShellState {
  const at = posix.normalize(absolutePath(target.value, state.cwd))
  if (!isKnown(at) || !isKnown(source.value)) return state
  return withMade(state, { links: new Map(state.made.links).set(at, source.value) })
}

function copied(state: ShellState, source: Arg, target: Arg): ShellState {
  const from = absolutePath(source.value, state.cwd)
  const content = descriptorOf(from) === '0' ? (state.stdin ?? undefined) : state.made.files.get(from)
  return content === undefined ? state : withFile(state, absolutePath(target.value, state.cwd), content)
}
