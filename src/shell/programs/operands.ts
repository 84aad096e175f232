import { absolutePath } from '../absolute-path.ts'
import { readOptions } from '../options.ts'
import type { Program, ProgramCall, ShellState } from '../shell-state.ts'
import { withFile, withMade } from '../state.ts'

interface OperandProgram {
  readonly how: string
  readonly valued?: string
  /** Words before the files: a mode, an owner. None when one of `instead` is given. */
  readonly skip?: number
  readonly instead?: string
  /** With one of these options nothing is written. */
  readonly unless?: string
  /** Only with one of these is anything written. */
  readonly only?: string
  readonly entry?: boolean
  /** Options with which everything below a directory is meant; `always` for a program that does so anyway. */
  readonly deep?: string
}

const remove = { how: 'removes it', entry: true, deep: 'r R recursive d' }
const removeTree = { how: 'removes it', entry: true, deep: 'always' } as const
const mode = {
  how: 'changes its mode',
  skip: 1,
  instead: 'reference',
  valued: 'reference',
  deep: 'R recursive',
}
const owner = { ...mode, how: 'changes its owner', valued: 'from reference' }
const inPlace = { how: 'changes it in place' }

/** `chmod 600 .env`, `chmod go-rwx server.key`. A number also takes the right to execute from a program. */
function isOwnerOnly(rights: string, file: string): boolean {
  return (
    /^(?:[go]+-[rwx]+|[go]+=)(?:,(?:[go]+-[rwx]+|[go]+=))*$/.test(rights) ||
    (/^0?600$/.test(rights) && /^[^*?[]*(?:\.env(?:\.\w+)?|\.pem|\.key|id_\w+)$/.test(file))
  )
}

/** Programs whose operands are the files they change. */
const table: Readonly<Record<string, OperandProgram>> = {
  rm: remove,
  grm: remove,
  unlink: remove,
  rmdir: { how: 'removes it', entry: true },
  srm: remove,
  trash: removeTree,
  'trash-put': removeTree,
  rimraf: removeTree,
  del: removeTree,
  'del-cli': removeTree,
  shred: { how: 'overwrites it', valued: 'n iterations s size random-source' },
  wipe: remove,
  truncate: { how: 'truncates it', valued: 's size r reference' },
  fallocate: { how: 'changes its size', valued: 'l length o offset' },
  touch: { how: 'touches it', valued: 'd date r reference t time' },
  gtouch: { how: 'touches it', valued: 'd date r reference t time' },
  chmod: mode,
  chown: owner,
  chgrp: owner,
  chattr: { how: 'changes its attributes', deep: 'R' },
  setfacl: { how: 'changes its access list', valued: 'm modify x remove M X', deep: 'R' },
  setfattr: { how: 'changes its attributes', valued: 'n name v value x remove' },
  chcon: { ...mode, valued: 'u t r l' },
  tee: { how: 'tee writes it' },
  sponge: { how: 'sponge writes it' },
  mount: {
    how: 'mounts it elsewhere, or something over it',
    valued: 't types o options L label U uuid O test-opts N namespace',
    deep: 'always',
  },
  mkfifo: { how: 'makes it', valued: 'm mode' },
  mknod: { how: 'makes it', valued: 'm mode' },
  mktemp: { how: 'makes it', valued: 'p tmpdir suffix', unless: 'u dry-run' },
  dos2unix: inPlace,
  unix2dos: inPlace,
  mac2unix: inPlace,
  strip: inPlace,
  rename: { how: 'renames it', entry: true },
  prename: { how: 'renames it', entry: true },
  nano: { how: 'opens it in an editor' },
  pico: { how: 'opens it in an editor' },
  micro: { how: 'opens it in an editor' },
  emacs: { how: 'opens it in an editor', unless: 'version' },
  prettier: { how: 'rewrites it', only: 'w write' },
  dprint: { how: 'rewrites it' },
  sd: { how: 'rewrites it', skip: 2, unless: 'p preview' },
  yq: { how: 'rewrites it', only: 'i inplace in-place', skip: 1 },
  sops: { how: 'rewrites it', only: 'i in-place' },
}

export const operandPrograms: ReadonlyMap<string, Program> = new Map(
  Object.entries(table).map(([name, program]) => [name, (invocation) => changeOperands(invocation, program)]),
)

/** `mkdir`: later commands may write into it. */
export function makeDirectories({ args, state, shell }: ProgramCall): ShellState {
  const { operands } = readOptions(args, 'm mode')
  for (const each of operands) shell.write(each, 'makes a directory in its place', state)
  const directories = new Set(state.made.directories)
  for (const { value } of operands) directories.add(absolutePath(value, state.cwd))
  return withMade(state, { directories })
}

function changeOperands(invocation: ProgramCall, program: OperandProgram): ShellState | undefined {
  const { how, valued, skip = 0, instead = '', unless = '', only, entry = false, deep = '' } = program
  const { has, operands } = readOptions(invocation.args, valued)
  if (has(unless)) return
  if (only !== undefined && !has(only)) return
  const whole = deep === 'always' || has(deep)
  const files = operands.slice(has(instead) ? 0 : skip)
  for (const file of files) {
    // Only others lose rights: the owner can still read and write the file.
    if (how === mode.how && !has(instead) && isOwnerOnly(operands[0]?.value ?? '', file.value)) continue
    const look = whole ? { look: absolutePath(file.value, invocation.state.cwd) } : {}
    invocation.shell.write(file, how, invocation.state, { entry, ...look })
  }
  if (!/^(?:tee|sponge)$/.test(invocation.name)) return
  const { state } = invocation
  return files.reduce((next, { value }) => withFile(next, absolutePath(value, state.cwd), state.stdin), state)
}
