import { type Command, parse, type SyntaxNode } from 'unbash'
import { simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'
import { unwrapPlain } from '../../shell/unwrap-command.ts'

/** Why a command, even a declared one, always succeeds; null when it proves something. */
export function provesNothing(command: string): string | null {
  const script = parse(command)
  if (script.errors !== undefined) return 'it cannot be read as a shell command'
  const commands = simpleCommandsIn(script)
  if (commands.length === 0) return 'it runs nothing'
  if (commands.every(isIdle)) return 'it always succeeds'
  return hidesFailure(script) ? 'it hides its own exit code' : null
}

function isIdle(command: Command): boolean {
  const { command: inner, script } = unwrapPlain(simpleCommand(command))
  if (script !== null) return provesNothing(script.source) !== null
  const [name = '', ...args] = inner.words
  if (/^(?:node|bun|deno|python[\d.]*|perl|ruby|php)$/.test(name))
    return args.length === 2 && /^-[ecr]$/.test(args[0] ?? '') && idleCode.test((args[1] ?? '').trim())
  return idle.test(name)
}

const idleCode =
  /^(?:|pass|0|1|true|process\.exit\(0?\)|(?:sys\.)?exit\(0?\)|import sys;? ?sys\.exit\(0?\))\s*;?$/

const idle =
  /^(?:|true|:|echo|printf|exit|sleep|pwd|date|whoami|hostname|clear|wait|cd|set|export|yes|uname|ls|env)$/

/** Ends in `|| true`, `; true`, `; echo` or similar, or in the background. */
function hidesFailure(script: SyntaxNode & { readonly type: 'Script' }): boolean {
  const last = script.commands.at(-1)
  if (last === undefined || last.background) return true
  const { command } = last
  const final = command.type === 'AndOr' ? command.commands.at(-1) : command
  const isIdleEnd = final?.type === 'Command' && isIdle(final) && !failsOrPassesOn(simpleCommand(final).words)
  if (!isIdleEnd) return false
  if (command.type === 'AndOr') return command.operators.at(-1) === '||'
  return script.commands.length > 1 && !endsAtFailure(script.commands[0]?.command)
}

/** `set -e`, after which a script does not come to its last line when one before it fails. */
function endsAtFailure(first: SyntaxNode | undefined): boolean {
  const [name, option = ''] = first?.type === 'Command' ? simpleCommand(first).words : []
  return name === 'set' && /^-\w*e/.test(option)
}

/** `exit 1`, or `exit $?` and a bare `exit`, which keep the exit code of the previous command. */
function failsOrPassesOn([name, code]: readonly string[]): boolean {
  return name === 'exit' && (code === undefined || !/^0+$/.test(code))
}
