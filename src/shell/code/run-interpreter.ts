import { percentDecoded } from '../../core/percent-decoded.ts'
import { absolutePath } from '../absolute-path.ts'
import { readOptions } from '../options.ts'
import { type Arg, argOf, type ProgramCall } from '../shell-state.ts'
import { readInterpreterCall } from './interpreter-call.ts'
import { judgeCode } from './judge-code.ts'

/** Judges code in arguments (`python -c`, `node -e`), on standard input, and in files written by the command. */
export function runInterpreter(invocation: ProgramCall): void {
  const { name, args, state, shell } = invocation
  const call = readInterpreterCall(name, args)
  if (call === null) return
  const { programs, file, rest } = call
  for (const [option, value] of call.settings) preload(option, value)
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
  if (programs.length > 0) return
  if (args[0]?.value === '-m') runModule(invocation)
  if (args.some(({ value }) => value === '-m' || value === '--version' || value === '-V')) return
  if (file !== undefined) {
    runFile(file, inputs)
    return
  }
  if (state.stdin !== null) judgeCode(state.stdin, invocation, inputs)
  // Tcl writes names without quotes.
  if (state.stdin !== null && /^(?:tclsh|expect)$/.test(name))
    shell.opaque(state.stdin, `${name} code cannot be followed`)
  return

  /** Code that runs before the program: `node -r file`, `node --import data:…`. */
  function preload(option: string, value: string): void {
    if (!/^(?:-r|--require|--import|--loader)$/.test(option)) return
    const [, inline] = /^data:[^,]*,(.*)$/s.exec(value) ?? []
    if (inline !== undefined) judgeCode(percentDecoded(inline), invocation, [])
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

  function runFile(script: Arg, inputs: readonly string[]): void {
    const path = absolutePath(script.value, state.cwd)
    const own =
      path === '/dev/stdin'
        ? state.stdin
        : endings.map((ending) => state.made.files.get(`${path}${ending}`)).find((text) => text !== undefined)
    if (own !== undefined && own !== null) judgeCode(own, invocation, inputs)
    else {
      const text = shell.world.readText(path, 65_536)
      // An existing program counts only for what it certainly does.
      if (text !== null) judgeCode(text, invocation, [], 'sure')
    }
  }
}

/** File extensions that Node and similar runtimes try. */
const endings = ['', '.js', '.cjs', '.mjs', '.ts', '/index.js']

/** `python -m`: modules that write files named in their arguments. */
function runModule({ args, state, shell }: ProgramCall): void {
  const module = args[1]?.value ?? ''
  const rest = args.slice(2)
  const { has, operands, values } = readOptions(rest, 'c create e extract f file o')
  const written = (() => {
    switch (module) {
      case 'json.tool':
        return operands.slice(1, 2)
      case 'zipfile':
      case 'tarfile':
        return values('c create')
      case 'venv':
      case 'virtualenv':
        return operands
      case 'dotenv':
        return /^(?:set|unset)$/.test(operands[0]?.value ?? '')
          ? values('f file').length > 0
            ? values('f file')
            : [argOf('.env')]
          : []
      case 'zipapp':
        return values('o')
      default:
        return []
    }
  })()
  if (module === 'venv' && has('h')) return
  for (const file of written) shell.write(file, `python -m ${module} writes it`, state)
}
