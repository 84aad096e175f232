import { quoteWord } from './quote-word.ts'
import { type Arg, argOf } from './shell-state.ts'
import type { Unwrapped, Wrapper, WrapperEffect } from './wrapper.ts'
import { isGiven, optionsOf, type WrapperPath, wrapperPaths } from './wrapper-paths.ts'

/** What the call of a wrapper runs, in every reading, the most likely one first. Empty when it runs no command at all. */
export function readWrapper(wrapper: Wrapper, args: readonly Arg[]): readonly (readonly Unwrapped[])[] {
  return wrapperPaths(wrapper, args).flatMap((path) => {
    const found = commandsAt(path, wrapper, args)
    return found === null ? [] : [found]
  })
}

/** Every way in which a wrapper may read the words before the command, the most likely one first. */
export function readWrapperWords(wrapper: Wrapper, args: readonly Arg[]): readonly WrapperOptions[] {
  return wrapperPaths(wrapper, args).map((path) => ({
    start: path.index,
    given: new Map(optionsOf(path).map(({ name, value }) => [name, value])),
  }))
}

export interface WrapperOptions {
  /** Index of the first word of the command. */
  readonly start: number
  /** Values of the options, by their first name in the table. */
  readonly given: ReadonlyMap<string, string>
}

/** What runs at the end of a path; null when that is not a call that runs a command. */
function commandsAt(path: WrapperPath, root: Wrapper, args: readonly Arg[]): readonly Unwrapped[] | null {
  const { wrapper, scripts, program } = path
  const effect = effectOf(path, root, args)
  const run = (words: readonly Arg[]): Unwrapped => ({ kind: 'words', words, ...effect })
  const script = (source: string): Unwrapped => ({
    kind: 'script',
    source,
    ...effect,
    plain: false,
    launches: false,
  })
  const words = wordsAt(path, args)
  const [first, ...others] = words
  if (wrapper.subcommands !== undefined || wrapper.ownVerbs !== undefined) {
    const isOwn = wrapper.ownVerbs === undefined || wrapper.ownVerbs.includes(first?.value ?? '')
    if (isOwn && scripts.length === 0) return null
    if (isOwn || first === undefined) return scripts.map(script)
  }
  if (wrapper.login !== undefined && !isGiven(wrapper.login, path)) {
    const [, ...rest] = path.rest
    const call = [...scripts.slice(-1).flatMap((text) => [argOf('-c'), argOf(text)]), ...rest]
    return call.length === 0 ? [] : [run([program ?? argOf('sh'), ...call])]
  }
  if (program !== null) return [run([program, ...words])]
  const quoted = (args: readonly Arg[]): string[] => args.map(({ value }) => quoteWord(value))
  if (wrapper.appends && scripts.length > 0)
    return scripts.map((text) => script([text, ...quoted(words)].join(' ')))
  const found = scripts.map(script)
  if (first === undefined) return found
  const joined = path.isText ? ' ' : wrapper.joined
  if (joined === 'first') return [...found, script(first.value)]
  if (joined !== undefined) return [...found, script(words.map(({ value }) => value).join(joined))]
  if (wrapper.textual && !/^[\w@%+.,/:-]*$/.test(first.value))
    return [...found, script([first.value, ...quoted(others)].join(' '))]
  return [...found, run(words)]
}

function wordsAt({ index, wrapper, words, ended }: WrapperPath, args: readonly Arg[]): readonly Arg[] {
  const { argumentsOf, prefix, ends } = wrapper
  const left = words ?? args.slice(index)
  const all = left[0]?.value === '--' ? left.slice(1) : left
  if (argumentsOf !== undefined)
    return all.length === 0 || (wrapper.afterDashes && !ended) ? [] : [argOf(argumentsOf), ...all]
  const end = ends === undefined ? -1 : all.findIndex(({ value }) => ends.test(value))
  const [first, ...others] = end === -1 ? all : all.slice(0, end)
  if (first === undefined || prefix === undefined) return first === undefined ? [] : [first, ...others]
  return [{ value: first.value.replace(prefix, ''), text: first.text.replace(prefix, '') }, ...others]
}

function effectOf(path: WrapperPath, root: Wrapper, args: readonly Arg[]): WrapperEffect {
  const { wrapper, certain, index } = path
  const optionWords = optionsOf(path).map(({ word }) => word)
  const { limited = false, plain } = root
  const launch = wrapper.launch ?? root.launch
  const isKept = certain && !path.skips && path.program === null && path.rest.length === 0
  const isFallback = wrapper.ownVerbs !== undefined
  const isPrefixed = wrapper.prefix?.test(args[index]?.value ?? '') === true
  return {
    assignments: path.assignments,
    directory: path.directory,
    exit: wrapper.exit ?? root.exit ?? 'same',
    plain:
      isKept &&
      plain !== undefined &&
      optionWords.every((word) => plain.test(word)) &&
      (!limited || /^\d+(?:\.\d+)?[smhd]?$/.test(args[index - 1]?.value ?? '')),
    launches:
      isKept &&
      launch !== undefined &&
      !isFallback &&
      !isPrefixed &&
      optionWords.every((word) => launch.test(word)),
    limited,
    certain,
    named: path.named || isFallback || root.launch !== undefined,
  }
}
