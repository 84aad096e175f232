import { z } from 'zod'
import type { TargetInvocation } from '../analysis/contract.ts'
import type { Gate } from './contract.ts'
import { excerpt, shortList } from './excerpt.ts'
import { description } from './fields.ts'

const schema = z
  .strictObject({
    type: z.literal('no_transcript_errors').describe('No invocation of the target tool failed.'),
    description,
  })
  .describe(
    'Passes when no invocation of the target tool is known to have ended with a non-zero exit code. An unknown exit code is not an error, and neither is a tool that was never used: the message mentions both.',
  )

export const noTranscriptErrors = {
  type: 'no_transcript_errors',
  needs: ['agent_events'],
  schema,
  async check(_, { invocations, invocationSource }) {
    const failed = invocations.filter(({ exitCode }) => exitCode !== null && exitCode !== 0)
    const unknown = invocations.filter(({ exitCode }) => exitCode === null).length
    return {
      passed: failed.length === 0,
      message:
        failed.length > 0
          ? failureMessage(failed, invocations.length)
          : passMessage(invocations.length, unknown),
      detail: {
        invocations: invocations.length,
        failed: shortList(failed.map(describe), 20),
        unknown_exit_codes: unknown,
        source: invocationSource,
      },
    }
  },
} satisfies Gate<z.output<typeof schema>>

function failureMessage(failed: readonly TargetInvocation[], total: number): string {
  return `${failed.length} of ${total} invocations failed: ${shortList(failed.map(describe), 3).join('; ')}`
}

function passMessage(total: number, unknown: number): string {
  if (total === 0) return 'no invocation of the target tool was seen, so none failed'
  if (unknown === 0)
    return total === 1 ? 'the one invocation succeeded' : `all ${total} invocations succeeded`
  return `no known failure in ${total} invocations; the end of ${unknown} is unknown`
}

function describe({ command, exitCode, approximate }: TargetInvocation): string {
  return `${excerpt(command, 120)} (exit code ${approximate ? 'about ' : ''}${exitCode})`
}
