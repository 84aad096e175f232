import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { DeclaredCommand, ProjectFacts } from '../../guard-engine/contract.ts'
import { requiredCommands as required } from '../../guard-engine/evidence/declared-commands.ts'
import { historyFold } from '../../guard-engine/history/index.ts'
import { planSource } from '../../guard-engine/project/declaring-files.ts'
import { lookAtProject } from '../../guard-engine/project/look-at-project.ts'
import { parsePlan } from '../../guard-engine/project/parse-plan.ts'
import type { Settings } from '../../guard-engine/settings/settings.ts'

export interface CommandPlace {
  readonly root: string
  readonly settings: Settings
  /** Path of the plan below the root, and what it says. */
  readonly plan: string
  readonly planText: string
  /** Declared when the run began: whatever the agent does to the files, they stay. */
  readonly declared: readonly DeclaredCommand[]
}

/** Every command that must be green, by the same reading as the guard's gate. */
export async function requiredNow(place: CommandPlace): Promise<readonly DeclaredCommand[]> {
  const { settings, declared } = place
  const { initial } = historyFold
  const history = { ...initial, session: { ...initial.session, declared } }
  return required({ history, settings, project: await projectNow(place) })
}

/** What is declared in the project now. */
export async function declaredNow(
  place: Omit<CommandPlace, 'declared'>,
): Promise<readonly DeclaredCommand[]> {
  return (await projectNow(place)).commands
}

async function projectNow(place: Omit<CommandPlace, 'declared'>): Promise<ProjectFacts> {
  const project = await lookAtProject(place.root, place.settings, { entries: false })
  if (place.plan === planSource) return project
  const own = parsePlan(place.planText).verification.map(
    (command): DeclaredCommand => ({
      command,
      kind: kindOfCommand(command),
      source: place.plan,
      explicit: true,
    }),
  )
  return { ...project, commands: [...own, ...project.commands] }
}
