import type { Arg } from '../shell-state.ts'

interface Language {
  /** Of every name that `name` matches, the beginning. */
  readonly starts: readonly string[]
  readonly name: RegExp
  /** Options whose value is a program. */
  readonly evaluates: RegExp
  /** Options with a value that is not a program. */
  readonly valued: RegExp
  /** Words before the program. */
  readonly verb?: RegExp
}

const languages: readonly Language[] = [
  {
    starts: ['py', 'ipython'],
    name: /^python[\d.]*$|^pypy\d?$|^ipython3?$/,
    evaluates: /^-[bBdEhiIOqsSuvx]*c$/,
    valued: /^-[WX]$/,
  },
  {
    starts: ['node', 'bun', 'ts', 'deno'],
    name: /^(?:node|nodejs|bun|tsx|ts-node|deno)$/,
    evaluates: /^(?:-e|-p|-pe|-ep|--eval|--print)$/,
    valued: /^(?:-r|--require|--import|--loader|-C|--conditions|--env-file)$/,
    verb: /^(?:eval|repl)$/,
  },
  { starts: ['perl'], name: /^perl[\d.]*$/, evaluates: /^-[a-df-hj-zA-Z0-9]*[eE]$/, valued: /^-I$/ },
  { starts: ['ruby', 'jruby'], name: /^j?ruby[\d.]*$/, evaluates: /^-[a-df-hj-zA-Z]*e$/, valued: /^-[rIE]$/ },
  { starts: ['php'], name: /^php[\d.]*$/, evaluates: /^(?:-[nqsw]*[rBRE]|--run)$/, valued: /^-[cdz]$/ },
  {
    starts: ['lua', 'osascript', 'R', 'julia', 'elixir', 'swift', 'groovy', 'scala', 'jshell'],
    name: /^(?:lua[\d.]*|luajit|osascript|Rscript|R|julia|elixir|swift|groovy|scala|jshell)$/,
    evaluates: /^(?:-e|-E|--eval|--execute)$/,
    valued: /^-l$/,
  },
  { starts: ['emacs'], name: /^emacs$/, evaluates: /^--?(?:eval|execute)$/, valued: /^$/ },
  {
    starts: ['tclsh', 'expect', 'guile', 'sbcl', 'clisp', 'racket'],
    name: /^(?:tclsh|expect|guile|sbcl|clisp|racket)$/,
    evaluates: /^(?:-c|-e|--eval)$/,
    valued: /^$/,
  },
]

export function isInterpreter(name: string): boolean {
  return languageOf(name) !== undefined
}

/** Compiles only the patterns whose beginning fits the name: compiling all of them takes half a millisecond of every hook. */
function languageOf(name: string): Language | undefined {
  return languages.find(
    (language) => language.starts.some((start) => name.startsWith(start)) && language.name.test(name),
  )
}

/** The arguments of an interpreter: `python -c CODE`, `node FILE`, `python -m MODULE`. */
export interface InterpreterCall {
  /** Code in its arguments. */
  readonly programs: readonly string[]
  readonly file: Arg | undefined
  /** Arguments that are neither code nor the file, with the options among them. */
  readonly rest: readonly Arg[]
  /** Options with their values, such as `-r FILE`. */
  readonly settings: readonly (readonly [string, string])[]
  /** The file or the module with the arguments for it; empty when it runs neither. */
  readonly runs: readonly Arg[]
}

/** null when the name is not that of an interpreter. */
export function readInterpreterCall(name: string, args: readonly Arg[]): InterpreterCall | null {
  const language = languageOf(name)
  if (language === undefined) return null
  const programs: string[] = []
  const rest: Arg[] = []
  const settings: (readonly [string, string])[] = []
  let file: Arg | undefined
  let runs: readonly Arg[] = []
  let readsInput = false
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index]
    if (arg === undefined) break
    const attached = /^(-[ceEr]|--(?:eval|print|run))[= ]?(.+)$/s.exec(arg.value)
    if (file !== undefined) rest.push(arg)
    else if (language.evaluates.test(arg.value) || language.verb?.test(arg.value)) {
      index += 1
      while (/^-/.test(args[index]?.value ?? '') && language.verb !== undefined) index += 1
      programs.push(args[index]?.value ?? '')
    } else if (attached?.[1] !== undefined && language.evaluates.test(attached[1]))
      programs.push(attached[2] ?? '')
    else if (language.valued.test(arg.value)) {
      settings.push([arg.value, args[index + 1]?.value ?? ''])
      index += 1
    } else if (arg.value === '-') readsInput = true
    else if (arg.value.startsWith('-')) {
      rest.push(arg)
      if (arg.value === '-m' && runs.length === 0 && programs.length === 0) runs = args.slice(index + 1)
    } else if (programs.length === 0 && !readsInput && arg.value !== 'run') {
      file = arg
      if (runs.length === 0) runs = args.slice(index)
    } else rest.push(arg)
  }
  return { programs, file, rest, settings, runs: programs.length > 0 ? [] : runs }
}
