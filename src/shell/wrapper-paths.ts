import { type Arg, argOf } from './shell-state.ts'
import { unknownPart } from './unknown-part.ts'
import type { Wrapper } from './wrapper.ts'
import { isOption, type OptionReading, readOption } from './wrapper-options.ts'

/** More readings than any honest command has. */
export const maxReadings = 50

/** One way to read the words of a wrapper up to the command that it runs. */
export interface WrapperPath {
  readonly index: number
  /** The wrapper, or its subcommand. */
  readonly wrapper: Wrapper
  readonly operands: number
  readonly options: GivenOption | null
  readonly scripts: readonly string[]
  readonly program: Arg | null
  readonly rest: readonly Arg[]
  readonly assignments: readonly string[]
  readonly directory: string | null
  readonly isText: boolean
  /** After `--`. */
  readonly ended: boolean
  readonly certain: boolean
  readonly named: boolean
  readonly skips: boolean
  readonly words: readonly Arg[] | null
}

interface GivenOption {
  readonly word: string
  /** Its first name in the table. */
  readonly name: string
  readonly value: string
  readonly before: GivenOption | null
}

/** Every way to read the words up to the command, the most likely one first. */
export function wrapperPaths(root: Wrapper, args: readonly Arg[]): readonly WrapperPath[] {
  const seen = new Set<string>()
  const forks: WrapperPath[] = [
    {
      index: 0,
      wrapper: root,
      operands: root.operands ?? 0,
      options: null,
      scripts: [],
      program: null,
      rest: [],
      assignments: [],
      directory: null,
      isText: false,
      ended: false,
      certain: true,
      named: false,
      skips: false,
      words: null,
    },
  ]
  const found: WrapperPath[] = []
  for (let fork = forks.pop(); fork !== undefined && found.length < maxReadings; fork = forks.pop()) {
    const { path, branches } = follow(fork, args)
    if (branches === null) found.push(path)
    // Two ways that meet again at the same word are followed once.
    else forks.push(...branches.filter((branch) => isNew(branch, seen)).toReversed())
  }
  return found
}

function isNew(path: WrapperPath, seen: Set<string>): boolean {
  const key = [path.index, path.directory, path.scripts.length, path.isText, path.operands].join(' ')
  return seen.size < seen.add(key).size
}

/** Follows a path to the command, or to an option that can be read in several ways. */
function follow(start: WrapperPath, args: readonly Arg[]) {
  let path = start
  for (;;) {
    const arg = args[path.index]
    if (arg === undefined || path.words !== null) return { path, branches: null }
    const { value } = arg
    if (!path.ended && value === '--') path = { ...path, index: path.index + 1, ended: true }
    else if (!path.ended && isOption(value, path.wrapper)) {
      const here = path
      const [first, ...others] = readOption(value, here.wrapper, args[here.index + 1]?.value)
      if (first === undefined) return { path, branches: null }
      if (others.length > 0) {
        const branches = [first, ...others].map((option) => ({
          ...afterOption(here, args, option),
          certain: false,
        }))
        return { path, branches }
      }
      path = afterOption(here, args, first)
    } else {
      const next = afterOperand(path, args, arg)
      if (next === null) return { path, branches: null }
      path = next
    }
  }
}

function afterOption(
  path: WrapperPath,
  args: readonly Arg[],
  { kind, name, attached, isText }: OptionReading,
): WrapperPath {
  const { index } = path
  const value: string = attached ?? args[index + 1]?.value ?? ''
  const after = index + (attached === undefined ? 2 : 1)
  const next: WrapperPath = {
    ...path,
    options: {
      word: args[index]?.value ?? '',
      name,
      value: kind === '' ? '' : kind === '?' ? (attached ?? '') : value,
      before: path.options,
    },
    isText: path.isText || isText,
  }
  switch (kind) {
    case '':
    case '?':
    case '&':
      return { ...next, index: index + 1, isText: next.isText || kind === '&' }
    case ':':
      return { ...next, index: after }
    case '::':
      return { ...next, index: after + 1 }
    case '!':
      return { ...next, index: after, scripts: [...path.scripts, value] }
    case '@':
      return { ...next, index: after, program: argOf(value) }
    case '>':
      return {
        ...next,
        index: args.length,
        words: [...(attached === undefined ? [] : [argOf(attached)]), ...args.slice(index + 1)],
      }
    case '/': {
      const { directory } = path
      const to = directory === null || value.startsWith('/') ? value : `${directory}/${value}`
      return { ...next, index: after, directory: to, skips: true }
    }
  }
}

/** The path after an operand that is not the command yet; null when the command begins here. */
function afterOperand(path: WrapperPath, args: readonly Arg[], arg: Arg): WrapperPath | null {
  const { wrapper, index } = path
  const { value } = arg
  const dashes =
    wrapper.afterDashes && !path.ended ? args.findIndex((each, at) => at >= index && each.value === '--') : -1
  if (dashes !== -1) return { ...path, index: dashes, skips: true }
  if (path.operands > 0) {
    const operands = path.operands - 1
    const ended = operands === 0 && wrapper.permutes !== true && wrapper.subcommands === undefined
    return { ...path, index: index + 1, operands, ended: path.ended || ended }
  }
  const { subcommands, ownVerbs, login } = wrapper
  if (subcommands !== undefined && Object.hasOwn(subcommands, value)) {
    const verb = subcommands[value] ?? {}
    return {
      ...path,
      index: index + 1,
      wrapper: verb,
      operands: verb.operands ?? 0,
      named: true,
      ended: false,
    }
  }
  if (subcommands !== undefined || ownVerbs !== undefined) return null
  if (login !== undefined && !isGiven(login, path))
    return { ...path, index: index + 1, rest: [...path.rest, arg] }
  if (wrapper.skipped?.test(value) && !(path.ended && wrapper.afterDashes))
    return { ...path, index: index + 1, skips: true }
  if (/^\w+=/.test(value)) return { ...path, index: index + 1, assignments: [...path.assignments, value] }
  const isUnknown = wrapper.takesUnknown && value === unknownPart && args[index + 1] !== undefined
  return isUnknown ? { ...path, index: index + 1 } : null
}

/** The options of a path, the last one first. */
export function optionsOf({ options }: WrapperPath): readonly GivenOption[] {
  const found: GivenOption[] = []
  for (let option = options; option !== null; option = option.before) found.push(option)
  return found
}

export function isGiven(names: readonly string[], path: WrapperPath): boolean {
  return names.length > 0 && optionsOf(path).some(({ name }) => names.includes(name))
}
