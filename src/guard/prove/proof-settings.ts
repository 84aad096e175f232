import type { ProofStage } from './contract.ts'

/** Settings of every scratch project: one verification command, and low limits. */
export const checkCommand = 'sh check.sh'
export const editThreshold = 3
export const maxRefusals = 2

export const checkFiles = { 'check.sh': 'grep -q 42 answer.txt\n' }

/** Content of harness.json. `gate`: stops are judged. */
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
      },
    },
    // The gate runs the command itself if the agent does not reliably report how it ended.
    completion: { verify: capabilities.failureSignal.kind === 'yes' ? 'agent' : 'self' },
  }
}
