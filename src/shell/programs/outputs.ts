import { absolutePath, textAt } from '../absolute-path.ts'
import { readOptions } from '../options.ts'
import { argOf, type Program, type ProgramCall, type ShellState } from '../shell-state.ts'
import { withFile } from '../state.ts'

/** Options whose value is an output file, for programs whose other options matter. */
const outputOptions: Readonly<Record<string, string>> = {
  sort: 'o output',
  shuf: 'o output',
  iconv: 'o output',
  gpg: 'o output',
  gpg2: 'o output',
  age: 'o output',
  'age-keygen': 'o output',
  keytool: '-keystore -file -destkeystore',
  pandoc: 'o output',
  time: 'o output',
  strace: 'o output',
  'git-credential-store': 'file',
  aria2c: 'o out',
  gcc: 'o -MF',
  cc: 'o -MF',
  clang: 'o -MF',
  'g++': 'o -MF',
  az: 'file f',
  mkcert: '-key-file -cert-file key-file cert-file',
}

export const outputPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...Object.entries(outputOptions).map(([name, options]): [string, Program] => [
    name,
    (invocation) => named(invocation, options),
  ]),
  ['dd', diskDump],
  ['openssl', openssl],
  ['logsave', (invocation) => operandAt(invocation, 0)],
  ['flock', (invocation) => operandAt(invocation, 0, 'w timeout E c command')],
  ['virtualenv', (invocation) => operandAt(invocation, 0, 'p python')],
  ['cpp', (invocation) => second(invocation, 'o D I U')],
  ['kubectl', remoteCopy],
  ['oc', remoteCopy],
  ['aws', remoteCopy],
  ['gsutil', remoteCopy],
  ['gcloud', remoteCopy],
  ['rclone', remoteCopy],
  ['sftp', (invocation) => second(invocation, 'P i o F J b')],
  ['step', stepCertificate],
  ['script', typescript],
  ['ssh-keygen', sshKeygen],
  ['split', split],
  ['csplit', split],
  ['uniq', (invocation) => second(invocation, 'f s w')],
  ['xxd', (invocation) => second(invocation, 'c cols g l len o s seek')],
  ['objcopy', (invocation) => second(invocation, 'O I j R')],
  ['vercel', vercel],
  ['dotenvx', dotenvSet],
  ['dotenv', dotenvSet],
])

/** For an unknown program: an option named like an output counts as one. */
export function guessedOutput({ args, state, shell, name }: ProgramCall): undefined {
  for (const [index, { value }] of args.entries()) {
    // A quick check first, because compiling the pattern costs a hook more time.
    if (!value.startsWith('-o') && !value.startsWith('--')) continue
    const found =
      /^(?:-o|--?out(?:put|file|-file|put-file|File)?|--dest(?:ination)?|--save(?:-to)?|--write)(?:=(.+))?$/.exec(
        value,
      )
    if (found === null) continue
    const next = found[1] === undefined ? args[index + 1] : argOf(found[1])
    if (next !== undefined && !next.value.startsWith('-'))
      shell.write(next, `${name} ${found[0]} writes it`, state)
  }
}

function named(invocation: ProgramCall, names: string): undefined {
  const { shell, state, name } = invocation
  const options = readOptions(invocation.args, names)
  for (const file of options.values(`${names} ${names.replaceAll(/(?<=^| )-/g, '')}`))
    shell.write(file, `${name} writes it`, state)
}

/** A new key goes to `privkey.pem` by default. */
function openssl(invocation: ProgramCall): undefined {
  const { args, shell, state } = invocation
  named(invocation, '-out -keyout -writerand -CAserial -signature_out')
  const words = args.map(({ value }) => value)
  const newKey = words[0] === 'req' && words.some((word) => word === '-newkey' || word === '-new')
  if (newKey && !words.includes('-keyout') && !words.includes('-key'))
    shell.write(argOf('privkey.pem'), 'openssl req writes it', state)
}

function operandAt({ name, args, state, shell }: ProgramCall, position: number, valued = ''): undefined {
  const target = readOptions(args, valued, { operandsFirst: true }).operands[position]
  if (target !== undefined) shell.write(target, `${name} writes it`, state)
}

/** `kubectl cp`, `aws s3 cp`, `rclone copyto`: the last word is here, unless it names another machine. */
function remoteCopy(invocation: ProgramCall): undefined {
  const { name, args, state, shell } = invocation
  const { operands } = readOptions(args, 'c container n namespace context profile region')
  const verb = operands.findIndex(({ value }) => /^(?:cp|copy|copyto|mv|move|moveto|rsync|sync)$/.test(value))
  const [source, target] = operands.slice(verb + 1)
  if (verb === -1 || source === undefined || target === undefined) return guessedOutput(invocation)
  if (/^\w+:\/\/|^[^/.][^/]*:/.test(target.value)) return
  const directory = shell.world.resolve(absolutePath(target.value, state.cwd)).kind === 'directory'
  const file = source.value.slice(source.value.lastIndexOf('/') + 1)
  shell.write(
    directory ? { value: `${target.value}/${file}`, text: target.text } : target,
    `${name} writes it`,
    state,
  )
}

function stepCertificate({ args, state, shell }: ProgramCall): undefined {
  const { operands } = readOptions(args, 'profile ca ca-key not-after san')
  if (operands[0]?.value === 'certificate' && operands[1]?.value === 'create')
    for (const file of operands.slice(3)) shell.write(file, 'step writes it', state)
}

function diskDump({ args, state, shell }: ProgramCall): ShellState {
  const source = args.find(({ value }) => value.startsWith('if='))?.value.slice(3)
  const content = textAt(source ?? '-', state)
  let next = state
  for (const { value, text } of args) {
    if (!value.startsWith('of=')) continue
    shell.write({ value: value.slice(3), text: text.replace(/^of=/, '') }, 'dd writes it', state)
    next = withFile(next, absolutePath(value.slice(3), state.cwd), content)
  }
  return next
}

function typescript({ args, state, shell }: ProgramCall): undefined {
  const written = 'O log-out B log-io T log-timing'
  const options = readOptions(args, `c command E echo I log-in m o ${written}`)
  for (const file of [...options.operands.slice(0, 1), ...options.values(written)])
    shell.write(file, 'script writes it', state)
}

function sshKeygen({ args, state, shell }: ProgramCall): undefined {
  const { has, values } = readOptions(args, 'f t b N C P a m Z I s n V Y F R O')
  if (has('l y e F Y B L')) return
  for (const file of values('f')) {
    shell.write(file, 'ssh-keygen writes it', state)
    shell.write({ value: `${file.value}.pub`, text: `${file.text}.pub` }, 'ssh-keygen writes it', state)
  }
}

/** Both write files whose names begin with a given text. */
function split({ name, args, state, shell }: ProgramCall): undefined {
  const options = readOptions(args, 'l b n C a f prefix suffix-format additional-suffix t filter')
  for (const { value } of options.values('filter')) shell.script(value, state)
  const prefix = name === 'csplit' ? options.values('f prefix')[0] : options.operands[1]
  if (prefix === undefined) return
  const [extra] = options.values('additional-suffix')
  const format = name === 'csplit' ? options.values('b suffix-format')[0] : undefined
  const ending =
    format === undefined ? (name === 'csplit' ? '00' : 'aa') : format.value.replace(/%[\d.]*[a-z]/, '0')
  shell.write(
    { value: `${prefix.value}${ending}${extra?.value ?? ''}`, text: prefix.text },
    `${name} writes it`,
    state,
  )
}

function second({ name, args, state, shell }: ProgramCall, valued: string): undefined {
  const [, target] = readOptions(args, valued).operands
  if (target !== undefined) shell.write(target, `${name} writes it`, state)
}

function vercel({ args, state, shell }: ProgramCall): undefined {
  const { operands } = readOptions(args, 'environment git-branch t token S scope cwd')
  const [first, second, file] = operands.map(({ value }) => value)
  const isHelp = args.some(({ value }) => value === '--help' || value === '-h')
  const pulls = first === 'env' && second === 'pull' && !isHelp
  if (pulls) shell.write(argOf(file ?? '.env.local'), 'vercel env pull writes it', state)
}

function dotenvSet({ args, state, shell, name }: ProgramCall): undefined {
  const options = readOptions(args, 'f env-file file fk e', { operandsFirst: true })
  const verb = options.operands[0]?.value ?? ''
  if (!/^(set|unset|encrypt|decrypt|rotate)$/.test(verb)) return
  const after = readOptions(args, 'f env-file file')
  const files = after.values('f env-file file')
  for (const file of files.length === 0 ? [argOf('.env')] : files)
    shell.write(file, `${name} ${verb} writes it`, state)
}
