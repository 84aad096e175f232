import type { Command, ParsedScript, PipelineNode, Statement } from 'unbash'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'

/**
 * Whether a call has started this command: `at_once`, when nothing takes time before it, `after_checks`, if those before it in its chain are
 * green, or `in_turn`, if the call ended with success. null when something before it may have kept it from starting.
 */
export function surelyStarts(
  { commands: statements }: ParsedScript,
  command: Command,
): 'at_once' | 'after_checks' | 'in_turn' | null {
  const startsHere = (link: PipelineNode): boolean =>
    link === command || (link.type === 'Pipeline' && link.commands.some((part) => part === command))
  const index = statements.findIndex((statement) => linksOf(statement).some(startsHere))
  const own = statements[index]
  if (own === undefined) return null
  const before = statements.slice(0, index)
  const links = linksOf(own)
  const at = links.findIndex(startsHere)
  const earlier = [...before.flatMap(linksOf), ...links.slice(0, at)]
  const operators = own.command.type === 'AndOr' ? own.command.operators : []
  if (operators.slice(0, at).some((operator) => operator !== '&&')) return null
  if (earlier.every(isQuickCommand)) return 'at_once'
  // A chain succeeds only if each of its commands does.
  const isProven =
    at === 0 || (index === statements.length - 1 && operators.every((operator) => operator === '&&'))
  const mayEnd = before.some(({ command: node }) =>
    simpleCommandsIn(node).some((each) => mayEndShell(simpleCommand(each).words[0])),
  )
  if (!isProven || mayEnd || own.background === true) return null
  return earlier.every((link) => isQuickCommand(link) || isCheck(link)) ? 'after_checks' : 'in_turn'
}

function linksOf({ command }: Statement): readonly PipelineNode[] {
  return command.type === 'AndOr' ? command.commands : [command]
}

function isQuickCommand(link: PipelineNode): boolean {
  if (link.type !== 'Command' || link.redirects.length > 0) return false
  const { words, assignments } = simpleCommand(link)
  return assignments.length === 0 && quick.has(words[0] ?? '')
}

function isCheck(link: PipelineNode): boolean {
  return link.type === 'Command' && kindOfCommand(simpleCommand(link).words.join(' ')) !== 'other'
}

/** Where `cd` leads is judged apart. */
const quick = new Set(['cd', 'echo', 'printf', 'set', 'mkdir', 'true', ':'])

function mayEndShell(name = ''): boolean {
  return ending.has(name) || name.includes('\0')
}

const ending = new Set(
  'exit exec return break continue kill eval source . trap set shopt alias enable'.split(' '),
)
