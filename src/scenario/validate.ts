import { z } from 'zod'
import { loadProject, type Project } from '../config/load.ts'
import { loadOwnGates } from '../config/own-gates.ts'
import { formatPosition, GantryError } from '../core/error.ts'
import type { GateDefinition } from '../gates/define-gate.ts'
import { checkOptions, optionFields } from '../io/check-options.ts'
import { readYaml } from '../io/yaml.ts'
import type { Case } from './case.ts'
import { discoverFiles, shownPath } from './discover.ts'
import { missingGraderScripts } from './grader-scripts.ts'
import { gradingCommands, loadCase } from './load-case.ts'
import { type Scenario, scenarioSchemaWith, weightSum } from './schema.ts'

export interface Validation {
  readonly file: string
  readonly name: string | null
  /** null when the scenario is valid. */
  readonly problem: string | null
  readonly hint: string | null
  /** Possibly intended, but worth checking. */
  readonly warnings: readonly string[]
}

const placeSchema = z.strictObject({
  cwd: z.string(),
  /** Default: that of this process. */
  env: optionFields.env,
  /** Gates of your own, besides those of gantry.yaml. */
  gates: z.array(z.custom<GateDefinition>()).readonly().optional(),
})

export type ScenarioPlace = Readonly<z.output<typeof placeSchema>>

/** Every scenario file with its problems; one broken file does not hide the others. */
export async function validateScenarios(
  paths: readonly string[],
  place: ScenarioPlace,
): Promise<Validation[]> {
  checkOptions('validateScenarios paths', z.array(z.string()), paths)
  checkOptions('validateScenarios place', placeSchema, place)
  const { cwd, env = process.env, gates = [] } = place
  return validateIn({ ...loadProject(cwd), passedIn: { gates } }, paths, cwd, env)
}

/** The same for a project whose gantry.yaml may not be written yet. */
export async function validateIn(
  project: Project,
  paths: readonly string[],
  cwd: string,
  env: NonNullable<ScenarioPlace['env']>,
  /** What is missing on this machine is only a warning. */
  { elsewhere = false }: { readonly elsewhere?: boolean } = {},
): Promise<Validation[]> {
  const ownGates = await loadOwnGates(project)
  const schema = scenarioSchemaWith(ownGates)
  const files = await discoverFiles(paths, project, cwd, schema)
  const firstFileOf = new Map<string, string>()
  return files.map((path) => {
    const file = shownPath(path, project.root)
    try {
      const missing: string[] = []
      const onMissingHere = ({ message }: GantryError): void =>
        void missing.push(message.replace(/^.*?:\d+:\d+: /, ''))
      const options = { project, cwd, env, ownGates, ...(elsewhere && { onMissingHere }) }
      const entry = loadCase(readYaml(path, schema), options)
      const twin = firstFileOf.get(entry.name)
      firstFileOf.set(entry.name, twin ?? file)
      const warnings = [...missing, ...warningsOf(entry)]
      if (twin === undefined) return { file, name: entry.name, problem: null, hint: null, warnings }
      return {
        file,
        name: entry.name,
        problem: `${file}: the name '${entry.name}' is already used by ${twin}`,
        hint: 'Give each scenario a unique name.',
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
  const { composite } = scenario.evaluation
  const sum = composite === undefined ? 1 : weightSum(composite)
  return [
    ...(Math.abs(sum - 1) > 0.01
      ? [`the weights of evaluation.composite sum to ${Number(sum.toFixed(4))}; they are scaled to 1`]
      : []),
    ...missingScripts(scenario, templateDir),
  ]
}

function missingScripts(scenario: Scenario, templateDir: string): string[] {
  const { oracle } = scenario
  const commands = [...gradingCommands(scenario), ...(oracle === undefined ? [] : [oracle.command])]
  return missingGraderScripts(commands, templateDir).map(
    (path) =>
      `${path} is run but is not in the template; this is correct only if setup or the agent creates it`,
  )
}
