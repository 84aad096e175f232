import { posix } from 'node:path'
import { absolutePath } from '../absolute-path.ts'
import { readOptions } from '../options.ts'
import { type Arg, argOf, type Program, type ProgramCall } from '../shell-state.ts'

const compressors = {
  gz: ['gzip', 'gunzip', 'pigz', 'unpigz'],
  bz2: ['bzip2', 'bunzip2', 'pbzip2'],
  xz: ['xz', 'unxz'],
  zst: ['zstd', 'unzstd'],
  lz4: ['lz4', 'unlz4'],
  lzma: ['lzma', 'unlzma'],
  Z: ['compress', 'uncompress'],
} as const

/** Programs that pack and unpack. What is in an archive cannot be seen: only what the command names counts. */
export const archives: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['tar', tar],
  ['gtar', tar],
  ['bsdtar', tar],
  ['unzip', unzip],
  ['zip', zip],
  ['7z', sevenZip],
  ['7za', sevenZip],
  ['cpio', cpio],
  ['ar', (invocation) => first(invocation, /^-?[dmpqrst]/)],
  ...(['gz', 'bz2', 'xz', 'zst', 'lz4', 'lzma', 'Z'] as const).flatMap((ending) =>
    compressors[ending].map((name): [string, Program] => [
      name,
      (invocation) => compress(invocation, ending),
    ]),
  ),
])

const here = argOf('.')

const tarValued =
  'f file C directory T files-from X exclude-from exclude transform xform strip-components I use-compress-program to-command checkpoint-action b N K g H s'

function tar({ args, state, shell }: ProgramCall): undefined {
  const [bundle, ...others] = args
  const words =
    bundle !== undefined && /^[a-zA-Z]+$/.test(bundle.value) ? [argOf(`-${bundle.value}`), ...others] : args
  const { has, values, operands } = readOptions(words, tarValued)
  const [archive] = values('f file')
  if (has('c r u A create append update') && archive !== undefined)
    shell.write(archive, 'tar writes it', state)
  if (has('c create') && has('remove-files'))
    for (const file of operands)
      shell.write(file, 'tar --remove-files removes it', state, { look: absolutePath(file.value, state.cwd) })
  for (const { value } of values('to-command I use-compress-program checkpoint-action'))
    shell.script(value.replace(/^exec=/, ''), state)
  if (!has('x extract get') || has('O to-stdout')) return
  const [directory] = values('C directory')
  for (const member of operands) shell.write(inDirectory(member, directory), 'tar unpacks it', state)
  shell.fill(directory ?? here, 'tar unpacks into it', state)
  if (values('transform xform s').length > 0) shell.opaque('', 'tar gives what it unpacks other names')
  if (archive === undefined || archive.value === '-')
    shell.opaque('', 'tar unpacks what another command hands to it')
}

function unzip({ args, state, shell }: ProgramCall): undefined {
  const { has, values, operands } = readOptions(args, 'd x P')
  if (has('l p c t v Z')) return
  const [directory] = values('d')
  for (const member of operands.slice(1))
    shell.write(inDirectory(member, directory), 'unzip unpacks it', state)
  shell.fill(directory ?? here, 'unzip unpacks into it', state)
}

function zip({ args, state, shell }: ProgramCall): undefined {
  const { has, operands } = readOptions(args, 'x i P b t n O out')
  const [archive, ...files] = operands
  if (archive !== undefined) shell.write(archive, 'zip writes it', state)
  if (has('m move'))
    for (const file of files)
      shell.write(file, 'zip -m removes it', state, { look: absolutePath(file.value, state.cwd) })
}

function sevenZip({ args, state, shell }: ProgramCall): undefined {
  const [verb, archive, ...members] = args.filter(({ value }) => !value.startsWith('-'))
  if (archive === undefined || verb === undefined) return
  if (/^[audr]/.test(verb.value)) shell.write(archive, '7z writes it', state)
  else if (/^[ex]$/.test(verb.value)) {
    for (const member of members) shell.write(member, '7z unpacks it', state)
    const set = args.find(({ value }) => /^-o./.test(value))
    shell.fill(set === undefined ? here : argOf(set.value.slice(2)), '7z unpacks into it', state)
  }
}

function cpio({ args, state, shell }: ProgramCall): undefined {
  const { has, values, operands } = readOptions(args, 'F file O I D H R E')
  for (const file of values('O')) shell.write(file, 'cpio writes it', state)
  if (has('o create')) for (const file of values('F file')) shell.write(file, 'cpio writes it', state)
  if (has('i extract')) {
    for (const member of operands) shell.write(member, 'cpio unpacks it', state)
    shell.fill(values('D')[0] ?? here, 'cpio unpacks into it', state)
    shell.opaque('', 'cpio unpacks what another command hands to it')
  }
  if (!has('p pass-through')) return
  const [target] = operands
  for (const line of (state.stdin ?? '').split('\n'))
    if (line !== '' && target !== undefined)
      shell.write(argOf(`${target.value}/${line}`), 'cpio writes it', state)
  if (state.stdin === null) shell.opaque('', 'cpio copies what another command names')
}

function first({ args, state, shell, name }: ProgramCall, verb: RegExp): undefined {
  const [operation, archive, ...members] = args
  if (archive !== undefined && verb.test(operation?.value ?? ''))
    shell.write(archive, `${name} writes it`, state)
  if (/^-?x/.test(operation?.value ?? '')) shell.fill(here, `${name} unpacks into it`, state)
  // Members go in and come out under the names they are given.
  if (/^-?[rqx]/.test(operation?.value ?? ''))
    for (const member of members)
      shell.opaque(member.value, `${name} unpacks files of that name`, { exact: true })
}

/** Replaces a file by its packed or unpacked form. */
function compress({ name, args, state, shell }: ProgramCall, ending: string): undefined {
  const { has, operands } = readOptions(args, 'S suffix T o')
  if (has('c stdout to-stdout l list t test')) return
  const unpacks = /^un|^gun|^bun/.test(name) || has('d decompress uncompress')
  for (const { value, text } of operands) {
    if (!has('k keep') && name !== 'zstd' && name !== 'lz4')
      shell.write({ value, text }, `${name} replaces it`, state, { entry: true })
    const made = unpacks ? value.replace(/\.[^./]+$/, '') : `${value}.${ending}`
    shell.write({ value: made, text: posix.basename(made) }, `${name} makes it`, state)
  }
}

function inDirectory(member: Arg, directory: Arg | undefined): Arg {
  return directory === undefined ? member : { value: `${directory.value}/${member.value}`, text: member.text }
}
