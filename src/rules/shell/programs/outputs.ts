import { argOf, type Invocation, type Program } from '../interpreter.ts'
import { readOptions } from '../options.ts'

/** Options after which the name of a file that is written comes, of programs whose other options matter. */
const outputOptions: Readonly<Record<string, readonly string[]>> = {
  sort: ['o', 'output'],
  shuf: ['o', 'output'],
  iconv: ['o', 'output'],
  gpg: ['o', 'output'],
  gpg2: ['o', 'output'],
  age: ['o', 'output'],
  'age-keygen': ['o', 'output'],
  openssl: ['-out', '-keyout', '-writerand', '-CAserial', '-signature_out'],
  keytool: ['-keystore', '-file', '-destkeystore'],
  pandoc: ['o', 'output'],
  time: ['o', 'output'],
  strace: ['o', 'output'],
  'git-credential-store': ['file'],
  aria2c: ['o', 'out'],
  gcc: ['o'],
  cc: ['o'],
  clang: ['o'],
  mkcert: ['-key-file', '-cert-file', 'key-file', 'cert-file'],
}

export const outputPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...Object.entries(outputOptions).map(([name, options]): [string, Program] => [
    name,
    (invocation) => named(invocation, options),
  ]),
  ['dd', diskDump],
  ['script', typescript],
  ['ssh-keygen', sshKeygen],
  ['split', split],
  ['csplit', split],
  ['uniq', (invocation) => second(invocation, ['f', 's', 'w'])],
  ['xxd', (invocation) => second(invocation, ['c', 'cols', 'g', 'l', 'len', 'o', 's', 'seek'])],
  ['objcopy', (invocation) => second(invocation, ['O', 'I', 'j', 'R'])],
  ['vercel', vercel],
  ['dotenvx', dotenvSet],
  ['dotenv', dotenvSet],
])

/** For a program nothing is known of: what is called an output is taken for one. */
export function guessedOutput({ args, state, shell, name }: Invocation): null {
  for (const [index, { value }] of args.entries()) {
    const found =
      /^(?:-o|--?out(?:put|file|-file|put-file|File)?|--dest(?:ination)?|--save(?:-to)?|--write)(?:=(.+))?$/.exec(
        value,
      )
    if (found === null) continue
    const next = found[1] === undefined ? args[index + 1] : argOf(found[1])
    if (next !== undefined && !next.value.startsWith('-'))
      shell.write(next, `${name} ${found[0]} writes it`, state)
  }
  return null
}

function named(invocation: Invocation, names: readonly string[]): null {
  const { shell, state, name } = invocation
  const options = readOptions(invocation.args, names)
  for (const file of options.values(...names, ...names.map((each) => each.replace(/^-/, ''))))
    shell.write(file, `${name} writes it`, state)
  return null
}

function diskDump({ args, state, shell }: Invocation): null {
  for (const { value, text } of args)
    if (value.startsWith('of='))
      shell.write({ value: value.slice(3), text: text.replace(/^of=/, '') }, 'dd writes it', state)
  return null
}

function typescript({ args, state, shell }: Invocation): null {
  const written = ['O', 'log-out', 'B', 'log-io', 'T', 'log-timing']
  const options = readOptions(args, ['c', 'command', 'E', 'echo', 'I', 'log-in', 'm', 'o', ...written])
  for (const file of [...options.operands.slice(0, 1), ...options.values(...written)])
    shell.write(file, 'script writes it', state)
  return null
}

function sshKeygen({ args, state, shell }: Invocation): null {
  const { given, values } = readOptions(args, [
    'f',
    't',
    'b',
    'N',
    'C',
    'P',
    'a',
    'm',
    'Z',
    'I',
    's',
    'n',
    'V',
    'Y',
    'F',
    'R',
    'O',
  ])
  if (['l', 'y', 'e', 'F', 'Y', 'B', 'L'].some((name) => given.has(name))) return null
  for (const file of values('f')) {
    shell.write(file, 'ssh-keygen writes it', state)
    shell.write({ value: `${file.value}.pub`, text: `${file.text}.pub` }, 'ssh-keygen writes it', state)
  }
  return null
}

/** Both write files whose names begin with a given text. */
function split({ name, args, state, shell }: Invocation): null {
  const options = readOptions(args, [
    'l',
    'b',
    'n',
    'C',
    'a',
    'f',
    'prefix',
    'suffix-format',
    'additional-suffix',
    't',
  ])
  const prefix = name === 'csplit' ? options.values('f', 'prefix')[0] : options.operands[1]
  if (prefix === undefined) return null
  const [extra] = options.values('additional-suffix')
  const ending = name === 'csplit' ? '00' : 'aa'
  shell.write(
    { value: `${prefix.value}${ending}${extra?.value ?? ''}`, text: prefix.text },
    `${name} writes it`,
    state,
  )
  return null
}

function second({ name, args, state, shell }: Invocation, valued: readonly string[]): null {
  const [, target] = readOptions(args, valued).operands
  if (target !== undefined) shell.write(target, `${name} writes it`, state)
  return null
}

function vercel({ args, state, shell }: Invocation): null {
  const { operands } = readOptions(args, ['environment', 'git-branch', 't', 'token', 'S', 'scope', 'cwd'])
  const [first, second, file] = operands.map(({ value }) => value)
  const pulls = first === 'env' && second === 'pull'
  if (pulls) shell.write(argOf(file ?? '.env.local'), 'vercel env pull writes it', state)
  return null
}

function dotenvSet({ args, state, shell, name }: Invocation): null {
  const options = readOptions(args, ['f', 'env-file', 'file', 'fk', 'e'], { operandsFirst: true })
  const verb = options.operands[0]?.value ?? ''
  if (!/^(set|unset|encrypt|decrypt|rotate)$/.test(verb)) return null
  const after = readOptions(args, ['f', 'env-file', 'file'])
  const files = after.values('f', 'env-file', 'file')
  for (const file of files.length === 0 ? [argOf('.env')] : files)
    shell.write(file, `${name} ${verb} writes it`, state)
  return null
}
