import type { Scene } from '../../rules/contract.ts'
import type { DeclaredCommand, EvidenceHistory, History, PlanFacts, ProjectFacts } from '../contract.ts'
import { type CommandStatus, commandStatus } from '../evidence/command-status.ts'
import { requiredCommands } from '../evidence/declared-commands.ts'
import { provesNothing } from '../evidence/proves-nothing.ts'
import { hasTicked } from '../history/gate.ts'
import type { Settings } from '../settings/settings.ts'

export interface Blockers {
  /** Required commands whose state keeps the work from being done. */
  readonly commands: readonly CommandStatus[]
  readonly plan: PlanFacts | null
  /** Verification is required and nothing is known that would be one. */
  readonly nothingKnown: boolean
  readonly required: readonly DeclaredCommand[]
  /** Every required command has a green run for this tree, whether or not the settings ask for it. */
  readonly isGreen: boolean
}

/** What stands between the tree as it is and a verified end. */
export function findBlockers(scene: Scene, tree: string): Blockers {
  const { history, settings, facts, event } = scene
  const { requireVerification, requireTestsPass, requirePlanCheck } = settings.checklist
  const required = requiredCommands({ history, settings, project: facts.project })
  const evidence = withOwnRuns(scene)
  const states = required.map((declared) => undermined(commandStatus(declared, evidence, tree), scene))
  const commands = states.filter(({ kind }) => {
    if (kind === 'green') return false
    return kind === 'missing' || kind === 'stale' ? requireVerification : requireTestsPass
  })
  const plan = facts.project?.plan ?? history.tasks.plan
  const isWorker = event.kind === 'stop' || /(?:^|:)ralph$/.test(event.agentType ?? '')
  return {
    commands,
    plan: requirePlanCheck && isWorker && plan !== null && plan.total > plan.done ? plan : null,
    nothingKnown: requireVerification && required.length === 0,
    required,
    isGreen: required.length > 0 && states.every(({ kind }) => kind === 'green'),
  }
}

/** The commands the gate would run itself: those without a green run for this tree. For whoever gathers the facts. */
export function commandsToVerify(known: {
  readonly history: History
  readonly settings: Settings
  readonly project: ProjectFacts | null
  readonly tree: string | null
}): readonly DeclaredCommand[] {
  const { history, tree } = known
  const { baseTree, waived } = history.gate
  if (tree === null || (tree === baseTree && !hasTicked(history.gate)) || waived.includes(tree)) return []
  return requiredCommands(known).filter(
    (declared) => commandStatus(declared, history.evidence, tree).kind !== 'green',
  )
}

/** The evidence with the runs the gate made just now. */
function withOwnRuns({ history, facts }: Scene): Pick<EvidenceHistory, 'byCommand' | 'rejected'> {
  const byCommand = { ...history.evidence.byCommand }
  const rejected = { ...history.evidence.rejected }
  for (const run of facts.verify) {
    delete rejected[run.command]
    if (run.notCounted === undefined) byCommand[run.command] = { ...run, by: 'guard' }
    else rejected[run.command] = run.notCounted
  }
  return { byCommand, rejected }
}

/** Green, but since the tests were last looked at its definition was changed into one that proves nothing. */
function undermined(status: CommandStatus, { history, facts }: Scene): CommandStatus {
  const { command } = status.declared
  const [was, is] = [history.evidence.tests, facts.tests].map((inventory) =>
    inventory !== null && Object.hasOwn(inventory.definitions, command)
      ? inventory.definitions[command]
      : undefined,
  )
  if (status.kind !== 'green' || is === undefined || was === undefined || is === was) return status
  const script = is.split('\n').find((line) => !/^[\w:.-]+:(?:\s|$)/.test(line)) ?? ''
  const why = provesNothing(script)
  return why === null || script === ''
    ? status
    : { ...status, kind: 'hollow', text: `proves nothing: its definition was changed, and now ${why}` }
}
