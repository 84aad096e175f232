import { posix } from 'node:path'
import { absolutePath, descriptorOf, leadsTo } from '../absolute-path.ts'
import { type Options, readOptions } from '../options.ts'
import { type Arg, argOf, type Program, type ProgramCall, type ShellState } from '../shell-state.ts'
import { withFile, withMade } from '../state.ts'
import { isKnown } from '../unknown-part.ts'

/** Programs that copy or convert a file: the last word is the target file or directory. */
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

const copyValued = 't target-directory S suffix'

function copy(invocation: ProgramCall): ShellState {
  const { args, shell, name } = invocation
  const options = readOptions(args, copyValued)
  const { has } = options
  const [suffix] = options.values('S suffix')
  let { state } = invocation
  for (const { source, target } of pairs(invocation, options)) {
    const from = absolutePath(source.value, state.cwd)
    if (has('l link')) shell.write(source, 'makes a hard link to it', state, { entry: true })
    shell.write(target, `${name} writes it`, state, has('r R a recursive archive') ? { look: from } : {})
    if (suffix !== undefined) {
      const kept = { value: `${target.value}${suffix.value}`, text: target.text }
      shell.write(kept, `${name} keeps a copy in it`, state)
    }
    state = has('s symbolic-link') ? linked(state, source, target) : copied(state, source, target)
    if (has('a d P R archive no-dereference') && isLink(from, invocation))
      state = linked(state, { value: from, text: source.text }, target)
  }
  return state
}

function install(invocation: ProgramCall): ShellState | undefined {
  const options = readOptions(invocation.args, `${copyValued} m mode o owner g group`)
  if (options.has('d directory')) {
    for (const each of options.operands) invocation.shell.write(each, 'install -d makes it', invocation.state)
    return
  }
  let { state } = invocation
  for (const { source, target } of pairs(invocation, options)) {
    invocation.shell.write(target, 'install writes it', invocation.state, { entry: true })
    state = copied(state, source, target)
  }
  return state
}

function move(invocation: ProgramCall): ShellState | undefined {
  const { shell } = invocation
  let { state } = invocation
  for (const { source, target } of pairs(invocation, readOptions(invocation.args, copyValued))) {
    const from = absolutePath(source.value, state.cwd)
    shell.write(source, 'moves it away', state, { entry: true, look: from })
    shell.write(target, 'moves another file to its place', state, { entry: true, look: from })
    // Under its new name it is the same entry, perhaps a symbolic or hard link.
    state = copied(linked(state, { value: from, text: source.text }, target), source, target)
  }
  return state
}

function link(invocation: ProgramCall): ShellState | undefined {
  const { shell } = invocation
  const options = readOptions(invocation.args, copyValued)
  const soft = options.has('s symbolic')
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

const rsyncValued =
  'e rsh f filter exclude include exclude-from include-from files-from T temp-dir log-file B bwlimit compare-dest link-dest backup-dir'

function rsync(invocation: ProgramCall): undefined {
  const { given, has, operands, values } = readOptions(invocation.args, rsyncValued)
  const target = operands.at(-1)
  if (operands.length < 2 || target === undefined || has('n dry-run')) return
  const { shell, state } = invocation
  for (const file of values('log-file')) shell.write(file, 'rsync logs to it', state)
  for (const source of operands.slice(0, -1)) {
    const from = absolutePath(source.value, state.cwd)
    if (has('remove-source-files')) shell.write(source, 'rsync removes it', state, { look: from })
    if (isRemote(target.value)) continue
    const whole = source.value.endsWith('/')
    const into = whole || isRemote(source.value) ? target : place(invocation, source, target)
    shell.write(into, 'rsync writes it', state, isRemote(source.value) ? {} : { look: from })
    if (/\bdelete/.test([...given].join(' ')))
      shell.write(target, 'rsync --delete removes it', state, { look: absolutePath(target.value, state.cwd) })
  }
}

function scp(invocation: ProgramCall): undefined {
  const options = readOptions(invocation.args, 'i P F o J c l S D')
  for (const { target } of pairs(invocation, options))
    if (!isRemote(target.value)) invocation.shell.write(target, 'scp writes it', invocation.state)
}

function isRemote(value: string): boolean {
  return /^[^/]+:/.test(value)
}

function pairs(invocation: ProgramCall, options: Options) {
  const [directory] = options.values('t target-directory')
  const sources = directory === undefined ? options.operands.slice(0, -1) : options.operands
  const target = directory ?? options.operands.at(-1)
  if (target === undefined) return []
  const exact = options.has('T no-target-directory')
  return sources.map((source) => ({
    source,
    target: exact ? target : place(invocation, source, target, directory !== undefined || sources.length > 1),
  }))
}

/** The path of the copy: inside the target when that is a directory. */
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
