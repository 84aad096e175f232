import type { Command, ParsedScript, PipelineNode, Statement } from 'unbash'
import { simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'

/**
 * Whether a call has started this command: `at_once`, when nothing takes time before it, or `in_turn`, if the call ended with success. null
 * when something before it may have kept it from starting.
 */
export function surelyStarts(
  { commands: statements }: ParsedScript,
  command: Command,
): 'at_once' | 'in_turn' | null {
  const startsHere = (link: PipelineNode): boolean =>
    link === command || (link.type === 'Pipeline' && link.commands.some((part) => part === command))
  const index = statements.findIndex((statement) => linksOf(statement).some(startsHere))
  const own = statements[index]
  if (own === undefined) return null
  const before = statements.slice(0, index)
  const links = linksOf(own)
  const at = links.findIndex(startsHere)
  const isQuick = [...before.flatMap(linksOf), ...links.slice(0, at)].every(isQuickCommand)
  const operators = own.command.type === 'AndOr' ? own.command.operators : []
  if (operators.slice(0, at).some((operator) => operator !== '&&')) return null
  if (isQuick) return 'at_once'
  // A chain succeeds only if each of its commands does.
  const isProven =
    at === 0 || (index === statements.length - 1 && operators.every((operator) => operator === '&&'))
  const mayEnd = before.some(({ command: node }) =>
    simpleCommandsIn(node).some((each) => mayEndShell(simpleCommand(each).words[0])),
  )
  return isProven && !mayEnd && own.background !== true ? 'in_turn' : null
}

function linksOf({ command }: Statement): readonly PipelineNode[] {
  return command.type === 'AndOr' ? command.commands : [command]
}

function isQuickCommand(link: PipelineNode): boolean {
  if (link.type !== 'Command' || link.redirects.length > 0) return false
  const { words, assignments } = simpleCommand(link)
  return assignments.length === 0 && quick.has(words[0] ?? '')
}

/** Where `cd` leads is judged apart. */
const quick = new Set(['cd', 'echo', 'printf', 'set', 'mkdir', 'true', ':'])

function mayEndShell(name = ''): boolean {
  return ending.has(name) || name.includes('\0')
}

const ending = new Set(
  'exit exec return break continue kill eval source . trap set shopt alias enable'.split(' '),
)
