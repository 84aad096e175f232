import { posix } from 'node:path'
import { absolutePath, textAt } from './absolute-path.ts'
import { expandGlob } from './expand-glob.ts'
import { gitList, grepList, grepValued, narrowed, patternsOf, regExpOf, searchList } from './file-lists.ts'
import { charsOf } from './glob-reg-exp.ts'
import { readOptions } from './options.ts'
import type { Arg, ProgramCall } from './shell-state.ts'
import { cut, substituted, translate } from './text-filters.ts'
import { unescapeText } from './unescape-text.ts'
import { freshName, isKnown, known, unknownPart } from './unknown-part.ts'
import { programPath } from './world.ts'

/** What some programs print, inferred from their words and their input. null: not known. */
export const printers: ReadonlyMap<string, (invocation: ProgramCall) => string | null> = new Map([
  ['echo', echo],
  ['printf', ({ args }: ProgramCall) => formatted(args.map(({ value }) => value))],
  ['cat', contents],
  ['tac', contents],
  ['head', firstLines],
  ['tail', contents],
  ['sort', contents],
  ['uniq', contents],
  ['tee', ({ state }: ProgramCall) => state.stdin],
  ['pwd', ({ state }: ProgramCall) => `${state.cwd ?? unknownPart}\n`],
  ['basename', baseNames],
  ['dirname', ({ args }: ProgramCall) => lines(args.map(({ value }) => known(value, posix.dirname)))],
  ['realpath', paths],
  ['readlink', paths],
  ['base64', decodeBase64],
  ['openssl', decodeBase64],
  ['xxd', decodeHex],
  ['rev', ({ state }: ProgramCall) => mapLines(state.stdin, (line) => [...line].reverse().join(''))],
  ['tr', ({ args, state }: ProgramCall) => translate(state.stdin, args)],
  ['ls', listed],
  ['dir', listed],
  ['vdir', listed],
  [
    'which',
    ({ args, shell }: ProgramCall) => lines(args.map(({ value }) => programPath(value, shell.world))),
  ],
  ['compgen', completed],
  ['stat', statNames],
  ['cut', cut],
  ['sed', substituted],
  ['grep', selected],
  ['egrep', selected],
  ['fgrep', selected],
  ['rg', searchList],
  ['ag', searchList],
  ['ack', searchList],
  ['git', gitList],
  ['mktemp', temporaryPath],
  ['date', timeNow],
  ['seq', () => null],
  ['yes', ({ args }: ProgramCall) => `${args.map(({ value }) => value).join(' ') || 'y'}\n`],
])

/** Programs that print nothing on success. */
export const silent: ReadonlySet<string> = new Set(
  'cd : true false export unset local readonly declare typeset alias mkdir touch rm cp mv ln chmod set shopt test [ exit return shift'.split(
    ' ',
  ),
)

/** The template, where there is one: which letters replace its last ones does not matter. */
function temporaryPath({ args, state, shell }: ProgramCall): string | null {
  const { has, values, operands } = readOptions(args, 'p suffix')
  const [template] = operands
  const inTemporary = template === undefined || has('t p tmpdir')
  const own = state.variables.get('TMPDIR') ?? shell.world.env.TMPDIR ?? '/tmp'
  const directory = values('p')[0]?.value ?? (typeof own === 'string' && own !== '' ? own : '/tmp')
  const name = `${template?.value ?? freshName}${values('suffix')[0]?.value ?? ''}`
  return isKnown(directory + name)
    ? `${inTemporary ? `${directory.replace(/\/$/, '')}/` : ''}${name}\n`
    : null
}

/** The time now, in a format of digits only: which ones does not matter. */
function timeNow({ args }: ProgramCall): string | null {
  const words = args.map(({ value }) => value).filter((word) => word !== '-u')
  const isDigits = words.length === 1 && /^\+(?:%[YymdHMSFTjsN]|[-_.:])+$/.test(words[0] ?? '')
  return isDigits ? `${words[0]?.slice(1).replaceAll(/%./g, '00')}\n` : null
}

/** Programs that print settings for the shell to evaluate: variables, functions, completions. */
export function printsSettings(name: string, args: readonly Arg[]): boolean {
  const [verb = '', next = ''] = args.map(({ value }) => value).filter((value) => !value.startsWith('-'))
  return settingsPrinters.get(name)?.test(`${verb} ${next}`.trim()) ?? false
}

const settingsPrinters: ReadonlyMap<string, RegExp> = new Map([
  ...['rbenv', 'nodenv', 'goenv', 'jenv', 'starship', 'zoxide'].map((name) => [name, /^init/] as const),
  ...['dircolors', 'keychain', 'register-python-argcomplete'].map((name) => [name, /^/] as const),
  ['fnm', /^(?:env|completions)/],
  ['pyenv', /^(?:init|virtualenv-init)/],
  ['direnv', /^(?:export|hook)/],
  ['mise', /^(?:activate|env|hook-env)/],
  ['rtx', /^(?:activate|env)/],
  ['asdf', /^(?:exec|env)/],
  ['ssh-agent', /^(?:)$/],
  ['brew', /^shellenv/],
  ['conda', /^shell\.\w+ hook/],
  ['micromamba', /^shell hook/],
  ['opam', /^(?:config )?env/],
  ['luarocks', /^path/],
  ['volta', /^completions/],
  ['minikube', /^docker-env/],
  ['docker-machine', /^env/],
])

function echo({ args }: ProgramCall): string {
  const words = args.map(({ value }) => value)
  const start = words.findIndex((word) => !/^-[neE]+$/.test(word))
  const flags = (start === -1 ? words : words.slice(0, start)).join('')
  const text = (start === -1 ? [] : words.slice(start)).join(' ')
  const shown = flags.includes('e') ? unescapeText(text) : text
  return flags.includes('n') ? shown : `${shown}\n`
}

/** The texts `printf` makes of its words. */
export function formatted(words: readonly string[]): string | null {
  const [format, ...values] = words[0] === '--' ? words.slice(1) : words
  if (format === undefined) return ''
  if (!isKnown(format)) return null
  const parts = [
    ...format.matchAll(
      /%%|%[-+ #0]*(?:\d+|\*)?(?:\.\d+)?([a-zA-Z])|\\(?:x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4}|[0-7]{1,3}|.)|[^%\\]+|[%\\]/gs,
    ),
  ]
  const slots = parts.filter(([, conversion]) => conversion !== undefined).length
  const rounds = slots === 0 ? 1 : Math.min(200, Math.max(1, Math.ceil(values.length / slots)))
  let next = 0
  let text = ''
  for (let round = 0; round < rounds; round += 1)
    for (const [part, conversion] of parts) {
      if (part === '%%') text += '%'
      else if (conversion !== undefined) {
        const value = values[next] ?? ''
        text += converted(conversion, value)
        next += 1
      } else text += unescapeText(part)
    }
  return text
}

function converted(conversion: string, value: string): string {
  const number = /^(?:0x[\da-fA-F]+|\d+)$/.test(value) ? Number(value) : null
  switch (conversion) {
    case 'b':
      return unescapeText(value)
    case 'c':
      return value.slice(0, 1)
    case 'x':
      return number === null ? value : number.toString(16)
    case 'o':
      return number === null ? value : number.toString(8)
    case 'd':
    case 'i':
      return number === null ? value : String(number)
    default:
      return value
  }
}

function contents({ args, state }: ProgramCall): string | null {
  const { operands } = readOptions(args, 'n c k t S o')
  if (operands.length === 0) return state.stdin
  const texts = operands.map(({ value }) => textAt(value, state))
  if (texts.every((text) => text === null)) return null
  return texts.map((text) => text ?? `${unknownPart}\n`).join('')
}

function firstLines(invocation: ProgramCall): string | null {
  const text = contents(invocation)
  const { values } = readOptions(invocation.args, 'n c')
  const [characters] = values('c')
  if (text === null || characters === undefined) return text
  const count = Number(characters.value)
  return Number.isInteger(count) && count >= 0 && isKnown(text) ? text.slice(0, count) : null
}

function baseNames({ args }: ProgramCall): string {
  const { has, values, operands } = readOptions(args, 's suffix')
  const several = has('a s')
  const suffix = values('s suffix')[0] ?? (several ? undefined : operands[1])
  return lines(
    (several ? operands : operands.slice(0, 1)).map(({ value }) =>
      known(value, (path) => posix.basename(path, suffix?.value)),
    ),
  )
}

function paths({ args, state, shell }: ProgramCall): string {
  const { operands } = readOptions(args, 'relative-to relative-base')
  return lines(
    operands.map(({ value }) => {
      const path = absolutePath(value, state.cwd)
      return isKnown(path) ? shell.world.resolve(path).real : path
    }),
  )
}

function decodeBase64(invocation: ProgramCall): string | null {
  const flags = invocation.args.map(({ value }) => value)
  if (!flags.some((flag) => /^(?:-d|-D|--decode|-[A-Za-z]*d)$/.test(flag))) return null
  const own = {
    ...invocation,
    args: invocation.args.filter(({ value }) => !/^-|^(?:enc|base64)$/.test(value)),
  }
  const text = contents(own)
  return text === null || !isKnown(text) ? null : Buffer.from(text, 'base64').toString('utf8')
}

function decodeHex(invocation: ProgramCall): string | null {
  const { has } = readOptions(invocation.args)
  const text = invocation.state.stdin
  return has('r') && text !== null && isKnown(text)
    ? Buffer.from(text.replaceAll(/[\s]/g, ''), 'hex').toString('utf8')
    : null
}

function listed({ args, state, shell }: ProgramCall): string | null {
  const { has, operands } = readOptions(args)
  if (has('l R')) return null
  const all = has('a A')
  const directories = operands.length === 0 ? ['.'] : operands.map(({ value }) => value)
  return directories
    .map((directory) => {
      const names = shell.world.list(absolutePath(directory, state.cwd))
      if (names === null) return `${directory}\n`
      return lines(names.filter((name) => all || !name.startsWith('.')))
    })
    .join('')
}

/** Lines of a known text that `grep` would print. */
function selected(invocation: ProgramCall): string | null {
  const { args, state, name } = invocation
  const listed = grepList(invocation) ?? narrowed(invocation)
  if (listed !== null || state.stdin === null) return listed
  const options = readOptions(args, grepValued)
  const { tests: patterns, places } = patternsOf(options)
  if (places.length > 0 || options.has('c q l o f r R')) return null
  const tests = patterns.map((pattern) => regExpOf(pattern, options, name))
  const wanted = (line: string): boolean =>
    !isKnown(line) || tests.some((each) => each.test(line.slice(0, 500))) !== options.has('v')
  return lines(state.stdin.split('\n').filter((line) => line !== '' && wanted(line)))
}

/** `compgen -f .e`, `compgen -G '.e*'`. */
function completed({ args, state, shell }: ProgramCall): string | null {
  const { has, values, operands } = readOptions(args, 'G A W P S')
  const [pattern] = values('G')
  const start = has('f') ? `${operands[0]?.value ?? ''}*` : pattern?.value
  return start === undefined ? null : lines(expandGlob(charsOf(start, false), state, shell))
}

/** `stat -c %n`: the names in its arguments. */
function statNames({ args }: ProgramCall): string | null {
  const { values, operands } = readOptions(args, 'c format printf f')
  const [format] = values('c format printf')
  if (format === undefined || !format.value.includes('%n')) return null
  return lines(operands.map(({ value }) => format.value.replaceAll('%n', value)))
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}

function mapLines(text: string | null, change: (line: string) => string): string | null {
  return text === null || !isKnown(text) ? null : text.split('\n').map(change).join('\n')
}
