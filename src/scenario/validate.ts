import { loadProject } from '../config/load.ts'
import { formatPosition, GantryError } from '../core/error.ts'
import { scriptsOfGates } from '../gates/index.ts'
import { readYaml } from '../io/yaml.ts'
import type { Case } from './case.ts'
import { discoverFiles, shownPath } from './discover.ts'
import { missingScripts } from './grader-files.ts'
import { loadCase } from './load-case.ts'
import { scenarioSchema } from './schema.ts'

export interface Validation {
  readonly file: string
  readonly name: string | null
  /** null when the scenario is sound. */
  readonly problem: string | null
  readonly hint: string | null
  /** What may be meant as it stands, and is worth a look. */
  readonly warnings: readonly string[]
}

/** Every scenario file with what is wrong with it; one broken file does not hide the others. */
export async function validateScenarios(
  paths: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<Validation[]> {
  const project = loadProject(place.cwd)
  const files = await discoverFiles(paths, project, place.cwd)
  const firstFileOf = new Map<string, string>()
  return files.map((path) => {
    const file = shownPath(path, project.root)
    try {
      const entry = loadCase(readYaml(path, scenarioSchema), { project, cwd: place.cwd, env: place.env })
      const twin = firstFileOf.get(entry.name)
      firstFileOf.set(entry.name, twin ?? file)
      const warnings = warningsOf(entry)
      if (twin === undefined) return { file, name: entry.name, problem: null, hint: null, warnings }
      return {
        file,
        name: entry.name,
        problem: `${file}: the name '${entry.name}' is taken by ${twin}`,
        hint: 'Give each scenario a name of its own.',
        warnings,
      }
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      const at = error.at === undefined ? file : formatPosition(error.at)
      const problem = error.message.includes(at) ? error.message : `${at}: ${error.message}`
      return { file, name: null, problem, hint: error.hint ?? null, warnings: [] }
    }
  })
}

function warningsOf({ scenario, templateDir }: Case): string[] {
  if (scenario.setup.commands.length > 0) return []
  const commands = [
    ...scriptsOfGates(scenario.evaluation.gates),
    ...scenario.scripts.post.map(({ command }) => command),
    ...scenario.scripts.evaluators.map(({ command }) => command),
    ...(scenario.oracle === undefined ? [] : [scenario.oracle.command]),
  ]
  return missingScripts(commands, templateDir).map(
    (path) => `${path} is run and is not in the template; that is right only if the agent is to make it`,
  )
}
