import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { TrialEvaluation } from '../../../src/plugin/evaluate/contract.ts'
import type { Execution } from '../../../src/plugin/execute/contract.ts'
import type { EvaluationDocument } from '../../../src/plugin/pipeline/evaluation-files.ts'
import { runIds, runPath } from '../robustness/lab.ts'
import { type GantryOptions, type GantryResult, gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { type Behaviour, modelScript, scenariosFile } from './behaviours.ts'
import { kitchen } from './kitchen.ts'

export interface KitchenOptions {
  /** In `pinned-agents.ts`. */
  readonly id: string
  readonly behaviours: readonly Behaviour[]
  /** false: what answers the agent is not in the project. */
  readonly isScripted?: boolean
  /** Further keys of `plugin:`. */
  readonly config?: Readonly<Record<string, unknown>>
}

/** A project with the kitchen, scenarios for it, and real Claude Code whose model treats it in all these ways. */
export function kitchenProject(options: KitchenOptions): TestProject {
  const project = makeProject({
    ...kitchen('plugin'),
    'scenarios.yaml': scenariosFile(options.behaviours),
    'model.yaml': modelScript(options.behaviours),
  })
  putSettings(project, options)
  return project
}

export function putSettings(project: TestProject, { id, isScripted = true, config }: KitchenOptions): void {
  project.write({
    'gantry.yaml': {
      agents: {
        real: {
          driver: 'claude-code',
          binary: findAgent(id)?.program,
          ...(isScripted && { model_script: 'model.yaml' }),
        },
      },
      plugin: {
        plugin: { path: 'plugin' },
        scope: { hooks: true, mcp_servers: true },
        scenarios: ['scenarios.yaml'],
        execution: { agent: 'real' },
        ...config,
      },
    },
  })
}

/** What lies in the directory of an evaluation that came to its end. */
export interface Evaluated extends GantryResult {
  readonly runId: string
  /** `evaluation.json`. */
  readonly document: EvaluationDocument
  readonly trials: readonly TrialEvaluation[]
  execution(trialId: string): Execution
}

/** `gantry plugin … --json`, and everything it left behind. Throws with what was printed when it left nothing. */
export async function evaluated(
  project: TestProject,
  argv: readonly string[],
  options: GantryOptions = {},
): Promise<Evaluated> {
  const result = await gantry(project, ['plugin', ...argv, '--json'], options)
  const dir = latestRun(project)
  if (dir === null || !existsSync(join(dir, 'evaluation.json')))
    throw new Error(`exit ${result.code}: ${result.stderr}${result.stdout}`)
  return { ...result, ...readRun(dir) }
}

export function readRun(dir: string): Omit<Evaluated, keyof GantryResult> {
  const document = json(join(dir, 'evaluation.json')) as EvaluationDocument
  return {
    runId: basename(dir),
    document,
    trials: document.results,
    execution: (id) => json(join(dir, 'trials', id, 'execution.json')) as Execution,
  }
}

/** The newest run of the project; null when there is none. */
export function latestRun(project: TestProject): string | null {
  const newest = runIds(project).at(-1)
  return newest === undefined ? null : runPath(project, newest)
}

/** The one trial of a scenario, or of two the one with the plugin. */
export function trialOf({ trials }: Pick<Evaluated, 'trials'>, scenarioId: string): TrialEvaluation {
  const all = trials.filter(({ scenario_id }) => scenario_id === scenarioId)
  const [trial, ...others] = all.length < 2 ? all : all.filter(({ trial: { arm } }) => arm !== 'without')
  if (trial === undefined || others.length > 0) throw new Error(`not one trial of ${scenarioId}`)
  return trial
}

/** Everything that fired in a trial, `type:name`, in order. */
export function firedIn({ detections }: TrialEvaluation): readonly string[] {
  return detections.map(({ component_type, name }) => `${component_type}:${name}`)
}

function json(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
