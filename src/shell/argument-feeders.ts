import { textAt } from './absolute-path.ts'
import { type Options, readOptions } from './options.ts'
import { quoteWord } from './quote-word.ts'
import type { WrapperOptions } from './read-wrapper.ts'
import { type Arg, argOf, type ProgramCall } from './shell-state.ts'
import { unknownPart } from './unknown-part.ts'
import { readWrapperOptions } from './wrappers.ts'

/** `xargs` and `parallel` append their input to a command, or insert it at a marker. */
export function xargs(call: ProgramCall): void {
  for (const options of readWrapperOptions('xargs', call.args)) feed(call, options)
}

function feed({ args, state, shell }: ProgramCall, { start, given }: WrapperOptions): void {
  const command = args.slice(start)
  const words = command.length === 0 ? [argOf('echo')] : command
  const text = textAt(given.get('-a') ?? '-', state)
  const placeholder = given.get('-i')
  const mark = given.get('-I') ?? given.get('-J') ?? (placeholder === '' ? '{}' : placeholder)
  const delimiter = given.get('-d')
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
  const items =
    at === -1 ? itemsOf(state.stdin, true, undefined) : args.slice(at + 1).map(({ value }) => value)
  for (const { start } of readWrapperOptions('parallel', before)) {
    const words = before.slice(start)
    const marked = words.some(({ value }) => value.includes('{}'))
    for (const each of items.slice(0, 100)) {
      const source = words.map(({ value }) => value.replaceAll('{}', quoteWord(each))).join(' ')
      shell.script(words.length === 0 ? each : marked ? source : `${source} ${quoteWord(each)}`, state)
    }
  }
}

/** `fd PATTERN -x cmd`: all of a directory is taken to be found. */
export function fd({ args, state, shell }: ProgramCall, found: string): void {
  const { words } = fdParts(args)
  if (words.length === 0) return
  const marked = words.some(({ value }) => value.includes('{}'))
  const run = words.map((word) => placed(word, '{}', found))
  shell.run(marked ? run : [...run, argOf(found)], state)
}

/** Its own options, and the command that it runs. */
export function fdParts(args: readonly Arg[]): { readonly options: Options; readonly words: readonly Arg[] } {
  const found = args.findIndex(({ value }) => /^(?:-[xX]|--exec|--exec-batch)$/.test(value))
  const at = found === -1 ? args.length : found
  const options = readOptions(args.slice(0, at), 'e extension t type E exclude d')
  return { options, words: args.slice(at + 1) }
}

function itemsOf(text: string | null, byLine: boolean, delimiter: string | undefined): readonly string[] {
  if (text === null) return [unknownPart]
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
  return { value, text: value === unknownPart ? 'what is read' : value }
}

function placed(word: Arg, mark: string, value: string): Arg {
  return word.value.includes(mark) ? { value: word.value.replaceAll(mark, value), text: word.text } : word
}
