import type { TrialRecord } from '../core/trial.ts'
import type { ExecutedCommand, ManifestChange } from '../store/contract.ts'

/** A manifest is for people: past this the trials' own records tell the rest. */
const maxCommands = 500

/** What the trials of a run leave in its manifest: the agents that ran, and the runs whose results were reused. */
export function createTraces(): { add(record: TrialRecord): void; finish(): ManifestChange } {
  const commands: ExecutedCommand[] = []
  const reused = new Set<string>()
  let leftOut = 0
  return {
    add: (record) => {
      if (record.cachedFrom !== null) {
        reused.add(record.cachedFrom)
        return
      }
      if (commands.length >= maxCommands) {
        leftOut += 1
        return
      }
      commands.push({
        name: record.id,
        command: `agent ${record.agent} (${record.model}), ${record.ending}`,
        exit_code: record.agentExitCode,
        duration_ms: record.durationMs,
      })
    },
    finish: () => ({
      commands_executed: commands,
      refers_to: [...reused],
      ...(leftOut > 0 && { details: { commands_left_out: leftOut } }),
    }),
  }
}
