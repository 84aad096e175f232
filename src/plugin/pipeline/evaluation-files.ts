import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { GantryError, nullAfterError } from '../../core/error.ts'
import { fileOutput } from '../../io/file-output.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import { directoryNames } from '../../io/list-directory.ts'
import { isFile } from '../../io/path-kind.ts'
import { isSafeName, requireName, runFile } from '../../store/run-paths.ts'
import type { Analysis } from '../analyze/contract.ts'
import { componentTypes, type PluginStage } from '../contract.ts'
import type { TrialEvaluation } from '../evaluate/contract.ts'
import type { EvaluationSummary } from '../evaluate/metrics/create-evaluation-fold.ts'
import type { Execution, PluginTranscript, PluginTrial } from '../execute/contract.ts'
import { type PluginScenario, scenarioTypes } from '../generate/contract.ts'

const text = z.string()
const list = z.array(z.looseObject({ name: text, cli_name: text, description: text }))

/** The part of `analysis.json` that the later stages need. */
const analysisSchema = z.looseObject({
  plugin_name: text.min(1),
  plugin_path: text.min(1),
  content_hash: text,
  preflight: z.looseObject({}),
  components: z.looseObject({ skills: list, agents: list, commands: list, hooks: list, mcp_servers: list }),
  findings: z.array(z.looseObject({ code: text, severity: text, message: text })),
  listing: z.looseObject({}),
})

const scenarioSchema = z.looseObject({
  id: text.min(1),
  component_ref: text,
  component_type: z.enum(componentTypes),
  expected_component: text,
  scenario_type: z.enum(scenarioTypes),
  user_prompt: text,
  expected_trigger: z.boolean(),
})

const scenariosSchema = z.looseObject({ scenarios: z.array(scenarioSchema) })

/** Files of a run may have been edited, truncated or replaced, so their content is validated. */
export function isAnalysis(value: unknown): value is Analysis {
  return analysisSchema.safeParse(value).success
}

function isAnalyses(value: unknown): value is readonly Analysis[] {
  return Array.isArray(value) && value.every(isAnalysis)
}

/** Whether it is the content of a `scenarios.json` with unique ids. */
export function isScenariosFile(value: unknown): value is { readonly scenarios: readonly PluginScenario[] } {
  const read = scenariosSchema.safeParse(value)
  return read.success && new Set(read.data.scenarios.map(({ id }) => id)).size === read.data.scenarios.length
}

export type EvaluationFiles = ReturnType<typeof evaluationFiles>

/** The files of an evaluation in its run directory. Each can be read on its own. */
export function evaluationFiles(dir: string) {
  const trial = (id: string, name: string): string => join(dir, 'trials', requireName('trial id', id), name)
  return {
    dir,
    runId: basename(dir),
    state: join(dir, 'state.json'),
    config: join(dir, 'config.json'),
    analysis: join(dir, 'analysis.json'),
    crowd: join(dir, 'crowd.json'),
    scenarios: join(dir, 'scenarios.json'),
    generationMetadata: join(dir, 'generation-metadata.json'),
    executionMetadata: join(dir, 'execution-metadata.json'),
    hookLab: join(dir, 'hook-lab.json'),
    evaluation: join(dir, 'evaluation.json'),
    batches: join(dir, 'batches.jsonl'),
    /** Generated scenarios of each component, stored as soon as they are paid for. */
    generatedDir: join(dir, 'generation'),
    transcriptsDir: join(dir, 'transcripts'),
    transcript: (trialId: string): string =>
      join(dir, 'transcripts', `${requireName('trial id', trialId)}.json`),
    execution: (trialId: string): string => trial(trialId, 'execution.json'),
    trialEvaluation: (trialId: string): string => trial(trialId, 'evaluation.json'),
    generated: (component: string): string =>
      join(dir, 'generation', `${requireName('component', component)}.json`),
  } as const
}

export function trialNames({ dir }: EvaluationFiles): readonly string[] {
  return (directoryNames(runFile.trials(dir), Infinity) ?? [])
    .map(({ name }) => name)
    .filter((name) => isSafeName(name))
}

/** `scenarios.json`. */
export interface ScenariosFile {
  readonly schema_version: 1
  readonly plugin_name: string
  readonly scenarios: readonly PluginScenario[]
}

export function writeScenarios(path: string, plugin_name: string, scenarios: readonly PluginScenario[]) {
  writeJsonAtomic(path, { schema_version: 1, plugin_name, scenarios } satisfies ScenariosFile)
}

/** Reads the file of an earlier stage. Throws GantryError NOT_FOUND or CORRUPT that names the stage to run. */
export function readAnalysis(files: EvaluationFiles): Analysis {
  return required(files.analysis, 'analysis', isAnalysis)
}

/** Empty for a run without a crowd. */
export function readCrowd(files: EvaluationFiles): readonly Analysis[] {
  return isFile(files.crowd) ? required(files.crowd, 'analysis', isAnalyses) : []
}

export function readScenarios(files: EvaluationFiles): readonly PluginScenario[] {
  return required(files.scenarios, 'generation', isScenariosFile).scenarios
}

/** null when missing or truncated: then the trial runs again. */
export function readExecution(files: EvaluationFiles, trialId: string): Execution | null {
  return readWhole(files.execution(trialId)) as Execution | null
}

export function readTrialEvaluation(files: EvaluationFiles, trialId: string): TrialEvaluation | null {
  return readWhole(files.trialEvaluation(trialId)) as TrialEvaluation | null
}

/** Writes the transcript first, so that every stored execution has one. */
export function keepExecution(files: EvaluationFiles, execution: Execution, transcript: PluginTranscript) {
  writeJsonAtomic(files.transcript(execution.trial.id), transcript)
  writeJsonAtomic(files.execution(execution.trial.id), execution)
}

/** null when missing, or not a complete JSON object. */
export function readWhole(path: string): object | null {
  const value = nullAfterError(() => readJsonIfExists(path), 'CORRUPT')
  return typeof value === 'object' ? value : null
}

function required<T>(path: string, stage: PluginStage, isWhole: (value: unknown) => value is T): T {
  const value = isFile(path) ? readWhole(path) : undefined
  if (isWhole(value)) return value
  const hint = `Run the stage again: gantry plugin resume ${basename(dirname(path))} --from-stage ${stage}`
  if (value === undefined)
    throw new GantryError('NOT_FOUND', `${path} does not exist: the stage ${stage} has not run`, { hint })
  throw new GantryError('CORRUPT', `${path} is damaged`, { hint, at: { file: path } })
}

/** `evaluation.json` without its results. */
export interface EvaluationHead
  extends Pick<
    Analysis,
    'plugin_name' | 'plugin_path' | 'content_hash' | 'findings' | 'listing' | 'plugin_load_result'
  > {
  readonly schema_version: 1
  readonly run_id: string
  readonly run_dir: string
  readonly agent: string
  readonly agent_version: string | null
  readonly model: string
  readonly timestamp: string
  readonly summary: EvaluationSummary
  /** Planned and not run. */
  readonly not_run: readonly string[]
}

/** `evaluation.json`, and what `gantry plugin run --json` prints. */
export interface EvaluationDocument extends EvaluationHead {
  readonly results: readonly (TrialEvaluation & { readonly user_prompt?: string })[]
}

/** Writes the document one result at a time, because a run may have thousands. */
export function writeEvaluationDocument(
  files: EvaluationFiles,
  head: EvaluationHead,
  trials: readonly PluginTrial[],
  promptOf: (trial: PluginTrial) => string | undefined,
): void {
  const file = fileOutput(files.evaluation)
  try {
    file.write(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "results": [`)
    let separator = '\n'
    for (const trial of trials) {
      const evaluation = readTrialEvaluation(files, trial.id)
      if (evaluation === null) continue
      file.write(`${separator}    ${JSON.stringify({ ...evaluation, user_prompt: promptOf(trial) })}`)
      separator = ',\n'
    }
    file.write('\n  ]\n}\n')
    file.close()
  } catch (error) {
    file.discard()
    throw error
  }
}

/** null when the run has not reached this point, or the file is damaged. */
export function readEvaluationHead(files: EvaluationFiles): EvaluationHead | null {
  const value = readWhole(files.evaluation)
  return value !== null && 'summary' in value ? (value as EvaluationHead) : null
}
