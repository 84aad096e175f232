import { absolutePath } from './absolute-path.ts'
import { type Arg, argOf, type ProgramCall } from './interpreter.ts'
import { readOptions } from './options.ts'
import { hole } from './unknown.ts'

/** `xargs` and `parallel` put what they read behind a command, or in the place that is marked in it. */
export function xargs({ args, state, shell }: ProgramCall): void {
  const valued = [
    '-I',
    '-n',
    '-P',
    '-L',
    '-s',
    '-d',
    '-E',
    '-a',
    '-J',
    '--max-args',
    '--max-procs',
    '--delimiter',
    '--arg-file',
    '--replace',
  ]
  const { start, given } = afterOptions(args, valued)
  const command = args.slice(start)
  const words = command.length === 0 ? [argOf('echo')] : command
  const from = given.get('-a') ?? given.get('--arg-file')
  const text =
    from === undefined ? state.stdin : (state.made.files.get(absolutePath(from, state.cwd)) ?? null)
  const short = args.slice(0, start).find(({ value }) => /^-(?:I|i).+/.test(value))
  const mark =
    given.get('-I') ??
    given.get('-J') ??
    given.get('--replace') ??
    short?.value.slice(2) ??
    (given.has('-i') ? '{}' : undefined)
  const delimiter = given.get('-d') ?? given.get('--delimiter')
  const items = itemsOf(text, mark !== undefined, delimiter)
  if (mark === undefined) shell.run([...words, ...items.map(item)], state)
  else
    for (const each of items.slice(0, 100))
      shell.run(
        words.map((word) => placed(word, mark, each)),
        state,
      )
}

export function parallel({ args, state, shell }: ProgramCall): void {
  const at = args.findIndex(({ value }) => /^:::+\+?$/.test(value))
  const before = at === -1 ? args : args.slice(0, at)
  const { start } = afterOptions(before, [
    '-j',
    '--jobs',
    '-I',
    '-N',
    '-n',
    '-a',
    '--arg-file',
    '-d',
    '-P',
    '--joblog',
    '-S',
    '--tmpdir',
  ])
  const words = before.slice(start)
  const items =
    at === -1 ? itemsOf(state.stdin, true, undefined) : args.slice(at + 1).map(({ value }) => value)
  const marked = words.some(({ value }) => value.includes('{}'))
  for (const each of items.slice(0, 100)) {
    const source = words.map(({ value }) => value.replaceAll('{}', quote(each))).join(' ')
    shell.script(words.length === 0 ? each : marked ? source : `${source} ${quote(each)}`, state)
  }
}

/** `fd PATTERN -x cmd`: all of a directory is taken to be found. */
export function fd({ args, state, shell }: ProgramCall, found: string): void {
  const at = args.findIndex(({ value }) => /^(?:-[xX]|--exec|--exec-batch)$/.test(value))
  if (at === -1) return
  const words = args.slice(at + 1)
  const marked = words.some(({ value }) => value.includes('{}'))
  const run = words.map((word) => placed(word, '{}', found))
  shell.run(marked ? run : [...run, argOf(found)], state)
}

export function fdPattern(args: readonly Arg[]): string {
  const at = args.findIndex(({ value }) => /^(?:-[xX]|--exec|--exec-batch)$/.test(value))
  return (
    readOptions(at === -1 ? args : args.slice(0, at), ['e', 'extension', 't', 'type', 'E', 'exclude', 'd'])
      .operands[0]?.value ?? ''
  )
}

function afterOptions(
  args: readonly Arg[],
  valued: readonly string[],
): { readonly start: number; readonly given: ReadonlyMap<string, string> } {
  const given = new Map<string, string>()
  let start = 0
  for (; start < args.length; start += 1) {
    const { value } = args[start] ?? argOf('')
    const [, name, attached] = /^(--[\w-]+)=(.*)$/s.exec(value) ?? []
    if (name !== undefined) given.set(name, attached ?? '')
    else if (!/^-./.test(value)) break
    else if (valued.includes(value)) {
      given.set(value, args[start + 1]?.value ?? '')
      start += 1
    } else if (attachable.test(value) && valued.includes(value.slice(0, 2)))
      given.set(value.slice(0, 2), value.slice(2))
    else given.set(value, '')
  }
  return { start, given }
}

/** `-d,`, `-n1`: the value right behind the letter. */
const attachable = /^-[adEnLPs]./

function itemsOf(text: string | null, byLine: boolean, delimiter: string | undefined): readonly string[] {
  if (text === null) return [hole]
  const at =
    delimiter === undefined
      ? byLine
        ? /\n/
        : /\s+/
      : delimiter.replace(/^\\n$/, '\n').replace(/^\\0$/, '\n')
  return text
    .split(at)
    .map((each) => each.replaceAll(/^["']|["']$/g, '').trim())
    .filter((each) => each !== '')
}

function item(value: string): Arg {
  return { value, text: value === hole ? 'what is read' : value }
}

function placed(word: Arg, mark: string, value: string): Arg {
  return word.value.includes(mark) ? { value: word.value.replaceAll(mark, value), text: word.text } : word
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
