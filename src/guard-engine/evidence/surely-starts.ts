import type { Command, CommandNode, ParsedScript } from 'unbash'
import { simpleCommand } from '../../shell/simple-command.ts'

/**
 * Whether a script that ended with success has started this command: it stands at the top, and nothing before it can end the script or keep
 * it from starting.
 */
export function surelyStarts(
  { commands: statements }: ParsedScript,
  command: Command,
  isRun: (command: Command) => boolean,
): boolean {
  for (const [index, { command: node }] of statements.entries()) {
    const [links, operators] = node.type === 'AndOr' ? [node.commands, node.operators] : [[node], []]
    // In the last statement, a run that fails before it fails the call.
    const isLast = index === statements.length - 1
    for (const [at, link] of links.entries()) {
      const parts: readonly CommandNode[] = link.type === 'Pipeline' ? link.commands : [link]
      if (parts.some((part) => part === command)) return true
      const gates = at < operators.length
      if (gates && operators[at] !== '&&') return false
      const isHarmless = (part: CommandNode): boolean =>
        part.type === 'Command' && (isQuick(part) || ((!gates || isLast) && isRun(part)))
      if (!parts.every(isHarmless)) return false
    }
  }
  return false
}

function isQuick(command: Command): boolean {
  const { words, assignments } = simpleCommand(command)
  return assignments.length === 0 && command.redirects.length === 0 && quick.has(words[0] ?? '')
}

/** Where `cd` leads is judged apart. */
const quick = new Set(['cd', 'echo', 'printf', 'set', 'mkdir', 'true', ':'])
