import type { ProofStage } from './contract.ts'

/** In every scratch project: the one command that verifies it, and bounds that are reached soon. */
export const checkCommand = 'sh check.sh'
export const editThreshold = 3
export const maxRefusals = 2

export const checkFiles = { 'check.sh': 'grep -q 42 answer.txt\n' }

/** harness.json. `gate`: the end of a turn is judged. */
export function proofSettings(
  { capabilities }: Pick<ProofStage, 'capabilities'>,
  { gate }: { readonly gate: boolean },
): object {
  return {
    version: '1.0.0',
    middleware: {
      loop_detection: { edit_threshold: editThreshold },
      pre_completion_checklist: {
        enabled: gate,
        verification_commands: [checkCommand],
        max_refusals: maxRefusals,
        // Where the agent does not surely tell how a command ended, the gate runs it itself.
        run_at_stop: capabilities.failureSignal.kind !== 'yes',
      },
    },
  }
}
