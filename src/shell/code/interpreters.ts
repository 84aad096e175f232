import { absolutePath } from '../absolute-path.ts'
import { type Arg, argOf, type Invocation } from '../interpreter.ts'
import { judgeCode } from './judge-code.ts'
import { runModule } from './python-modules.ts'

interface Language {
  /** Of every name that `name` matches, the beginning. */
  readonly starts: readonly string[]
  readonly name: RegExp
  /** Options whose value is a program. */
  readonly evaluates: RegExp
  /** Options with a value that is none. */
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
  { starts: ['perl'], name: /^perl[\d.]*$/, evaluates: /^-[a-df-hj-zA-Z0-9]*[eE]$/, valued: /^$/ },
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

/** A pattern is compiled only for a name that begins like one of its own: all of them take a hook half a millisecond. */
function languageOf(name: string): Language | undefined {
  return languages.find(
    (language) => language.starts.some((start) => name.startsWith(start)) && language.name.test(name),
  )
}

/** `python -c`, `node -e` and their kin, a program on standard input, and one the command wrote itself. */
export function runInterpreter(invocation: Invocation): null {
  const { name, args, state, shell } = invocation
  const language = languageOf(name)
  if (language === undefined) return null
  const programs: string[] = []
  const rest: Arg[] = []
  let file: Arg | undefined
  let reads = false
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index]
    if (arg === undefined) break
    const attached = /^(-[ceEr]|--(?:eval|print|run))[= ]?(.+)$/s.exec(arg.value)
    if (file === undefined && (language.evaluates.test(arg.value) || language.verb?.test(arg.value))) {
      index += 1
      while (/^-/.test(args[index]?.value ?? '') && language.verb !== undefined) index += 1
      programs.push(args[index]?.value ?? '')
    } else if (file === undefined && attached?.[1] !== undefined && language.evaluates.test(attached[1]))
      programs.push(attached[2] ?? '')
    else if (file === undefined && language.valued.test(arg.value)) {
      preload(arg.value, args[index + 1]?.value ?? '')
      index += 1
    } else if (file === undefined && arg.value === '-') reads = true
    else if (arg.value.startsWith('-') && arg.value !== '-') rest.push(arg)
    else if (file === undefined && programs.length === 0 && !reads && arg.value !== 'run') file = arg
    else rest.push(arg)
  }
  inPlace()
  const [, option, required] = /(?:^|\s)(-r|--require|--import)[= ](\S+)/.exec(nodeOptions()) ?? []
  if (option !== undefined && required !== undefined) preload(option, required)
  const inputs = [
    ...rest.map(({ value }) => value),
    ...environment(),
    ...(programs.length > 0 ? (state.stdin ?? '').split('\n') : []),
  ]
  for (const program of programs) judgeCode(program, invocation, inputs)
  // What a program reads and then runs is a program too.
  if (state.stdin !== null && programs.some((each) => /\b(?:exec|eval|compile)\b/.test(each)))
    judgeCode(state.stdin, invocation, [])
  if (programs.length > 0) return null
  if (args[0]?.value === '-m') runModule(invocation)
  if (args.some(({ value }) => value === '-m' || value === '--version' || value === '-V')) return null
  if (file !== undefined) return runFile(file, inputs)
  if (state.stdin !== null) judgeCode(state.stdin, invocation, inputs)
  // Tcl writes names without quotes.
  if (state.stdin !== null && /^(?:tclsh|expect)$/.test(name))
    shell.opaque(state.stdin, `${name} code cannot be followed`)
  return null

  /** Code that runs before the program: `node -r file`, `node --import data:…`. */
  function preload(option: string, value: string): void {
    if (!/^(?:-r|--require|--import|--loader)$/.test(option)) return
    const [, inline] = /^data:[^,]*,(.*)$/s.exec(value) ?? []
    if (inline !== undefined) judgeCode(decoded(inline), invocation, [])
    else runFile(argOf(value), [])
  }

  /** `perl -pi -e` and `ruby -i` write back what they read. */
  function inPlace(): void {
    if (
      !/^perl|ruby/.test(name) ||
      !args.some(({ value }) => /^-[a-zA-Z0-9]*i/.test(value) && !/^-[IMm]/.test(value))
    )
      return
    for (const each of file === undefined ? rest : [file, ...rest])
      if (!each.value.startsWith('-')) shell.write(each, `${name} -i`, state)
  }

  function nodeOptions(): string {
    const value = name === 'node' ? state.variables.get('NODE_OPTIONS') : undefined
    return typeof value === 'string' ? value : ''
  }

  function environment(): readonly string[] {
    return [...state.variables.values()].flat()
  }

  function runFile(script: Arg, inputs: readonly string[]): null {
    const path = absolutePath(script.value, state.cwd)
    const own =
      path === '/dev/stdin'
        ? state.stdin
        : endings.map((ending) => state.made.files.get(`${path}${ending}`)).find((text) => text !== undefined)
    if (own !== undefined && own !== null) judgeCode(own, invocation, inputs)
    else {
      const text = shell.world.readText(path, 65_536)
      // A program that is there anyway counts only for what it surely does.
      if (text !== null) judgeCode(text, invocation, [], 'sure')
    }
    return null
  }
}

/** What Node and its kin try behind a name. */
const endings = ['', '.js', '.cjs', '.mjs', '.ts', '/index.js']

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
