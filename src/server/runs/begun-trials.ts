import { GantryError } from '../../core/error.ts'
import { asObject, asString } from '../../core/json-fields.ts'
import { namesIn } from '../../io/directory.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { parseYamlSource } from '../../io/yaml-source.ts'
import { evaluationFiles, readScenarios } from '../../plugin/pipeline/evaluation-files.ts'
import type { TrialHeader } from '../../report/contract.ts'
import type { StoredRun } from '../../store/contract.ts'
import { runFile } from '../../store/run-paths.ts'

/** The trials of the plan; none when it is missing or damaged. */
export function plannedTrials(run: StoredRun): readonly TrialHeader[] {
  return ifReadable([], () => (run.plan()?.trials ?? []) as readonly TrialHeader[])
}

/** Trials that have begun and have no record yet. Of some the agent has ended, and only the verdict is missing. */
export function begunTrials(run: StoredRun, planned: readonly TrialHeader[], ended: ReadonlySet<string>) {
  const begun = new Set(namesIn(runFile.trials(run.dir)))
  return planned
    .filter(({ id }) => begun.has(id) && !ended.has(id))
    .map(({ id, case: name, agent, model, attempt }) => ({
      ...{ trial_id: id, case: name, agent, model, attempt },
      is_over: namesIn(run.trialDir(id)).some((file) => /^(?:checkpoint-agent|execution)\.json$/.test(file)),
    }))
}

const maxScenarioBytes = 1024 * 1024

/** What the agent is asked in a case, from the files that the run has frozen; null when they do not say. */
export function promptOf(run: StoredRun, name: string): string | null {
  if (ifReadable('', () => run.manifest().kind) === 'plugin') {
    const scenarios = ifReadable([], () => readScenarios(evaluationFiles(run.dir)))
    return scenarios.find(({ id }) => id === name)?.user_prompt ?? null
  }
  for (const { path } of run.inputs().values()) {
    const source = parseYamlSource(readShortText(path, maxScenarioBytes) ?? '', path)
    const scenario = source.kind === 'parsed' ? asObject(source.value) : null
    if (scenario?.name === name) return asString(asObject(scenario.task)?.prompt) ?? null
  }
  return null
}

function ifReadable<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof GantryError) return otherwise
    throw error
  }
}
