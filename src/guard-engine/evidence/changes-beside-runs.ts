import type { Command, ParsedScript } from 'unbash'
import { simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'
import type { CoveragePlace } from './coverage/read-check.ts'
import { parsedInside } from './inner-script.ts'
import { mayChangeFiles } from './may-change-files.ts'

/**
 * The first command of the call that is not a wanted one and may change files while the wanted ones run, and whether one that ends before
 * them or starts after them may.
 */
export function changesBesideRuns(
  script: ParsedScript,
  text: string,
  { isRun, place }: { isRun(command: Command): boolean; readonly place: CoveragePlace },
): { readonly during: string | null; readonly earlier: boolean; readonly later: boolean } {
  const mayChange = (command: Command, depth = 0): boolean => {
    if (!mayChangeFiles(command) || isRun(command)) return false
    const parsed = depth > maxDepth || command.redirects.length > 0 ? null : parsedInside(command, place)
    if (parsed === null) return true
    const own = new Set(clearedBefore(parsed, isRun))
    return simpleCommandsIn(parsed).some((each) => !own.has(each) && mayChange(each, depth + 1))
  }
  /** Also a task or a script that runs wanted commands. */
  const runsWanted = (command: Command, depth = 0): boolean => {
    if (isRun(command)) return true
    const parsed = depth > maxDepth ? null : parsedInside(command, place)
    return parsed !== null && simpleCommandsIn(parsed).some((each) => runsWanted(each, depth + 1))
  }
  const after = new Set(startedAfter(script, isRun))
  // What is put back after the run leaves no trace in the tree.
  const isLater = [...after].some((command) => mayChange(command))
  const before = isLater
    ? []
    : endedBefore(script, (command) => runsWanted(command)).filter((command) => !runsCode(command))
  const cleared = new Set(mayOutlast(text) ? before.filter(onlyMoves) : before)
  const found = simpleCommandsIn(script).filter((command) => !cleared.has(command) && mayChange(command))
  const during = found.find((command) => !after.has(command))
  return {
    during: during === undefined ? null : (during.name?.text ?? 'a redirection').slice(0, 40),
    earlier: found.length === 0 && before.some((command) => mayChangeFiles(command, () => false)),
    later: isLater,
  }
}

/** Of tasks that run tasks. */
const maxDepth = 8

/** Whether something in the text may still run after its command has ended. */
export function mayOutlast(text: string): boolean {
  return lasting.test(text)
}

const lasting =
  /(?:^|[^&>|])&(?![&>\d])|[<>]\(|\b(?:nohup|setsid|disown|daemon\w*|Popen|spawn\w*|fork|detached|at|batch|tmux|screen|systemd-run|crontab|coproc|trap|docker|podman|subprocess|child_process|multiprocessing|[Tt]hread\w*)\b|os\.system/

/** The commands of `run && a; b` that start only when the runs have ended, those of the chain only if they succeeded. */
function startedAfter(
  { commands: statements }: ParsedScript,
  isWanted: (command: Command) => boolean,
): readonly Command[] {
  const at = statements.findLastIndex(({ command }) => simpleCommandsIn(command).some(isWanted))
  const own = statements[at]?.command
  if (own === undefined || statements.slice(0, at + 1).some(({ background }) => background === true))
    return []
  const { commands, operators } = own.type === 'AndOr' ? own : { commands: [own], operators: [] }
  const isChain = operators.every((operator) => operator === '&&')
  const last = commands.findLastIndex((node) => simpleCommandsIn(node).some(isWanted))
  const rest = isChain ? commands.slice(last + 1) : []
  return [...rest, ...statements.slice(at + 1).map(({ command }) => command)].flatMap((node) =>
    simpleCommandsIn(node),
  )
}

/** Of the commands before the first run, those that only make, move or remove files and print nothing. */
export function clearedBefore(
  script: ParsedScript,
  isWanted: (command: Command) => boolean,
): readonly Command[] {
  return endedBefore(script, isWanted).filter(onlyMoves)
}

function onlyMoves(command: Command): boolean {
  const line = simpleCommand(command).words.join(' ')
  return (
    command.redirects.length === 0 &&
    /^(?:rm|rmdir|mkdir|touch|cp|mv|ln|chmod) |^find (?!.* -(?:exec|execdir|ok|okdir) (?!rm )|.* -f(?:print|ls))/.test(
      line,
    )
  )
}

/** Commands that end before the first run begins. What they change is there during the run, and still after the call. */
function endedBefore(script: ParsedScript, isWanted: (command: Command) => boolean): readonly Command[] {
  const at = script.commands.findIndex(({ command }) => simpleCommandsIn(command).some(isWanted))
  const first = script.commands[at]?.command
  if (first === undefined || script.commands.slice(0, at + 1).some(({ background }) => background === true))
    return []
  const links = first.type === 'AndOr' ? first.commands : []
  const earlier = links.slice(
    0,
    links.findIndex((node) => simpleCommandsIn(node).some(isWanted)),
  )
  return [...script.commands.slice(0, at).map(({ command }) => command), ...earlier].flatMap((node) =>
    simpleCommandsIn(node),
  )
}

/** Code in an argument that does more than to import and print. */
function runsCode(command: Command): boolean {
  const [name = '', flag = '', code = ''] = simpleCommand(command).words
  if (!/^(?:node|bun|deno|python[\d.]*|perl|ruby|php)$/.test(name) || !/^-\w*[cepr]$/.test(flag)) return false
  const isPlain = /^(?:(?:import|from) [\w., ]+|(?:print|console\.log)\([\w.,'" ()]*\))?$/
  return !code.split(/[;\n]/).every((statement) => isPlain.test(statement.trim()))
}
