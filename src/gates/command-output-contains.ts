import { z } from 'zod'
import type { Gate } from './contract.ts'
import { excerpt } from './excerpt.ts'
import { command, description, expectExit, substring, timeoutSecs } from './fields.ts'
import { commandName, runForOutput, truncationNote } from './run-command.ts'

const schema = z
  .strictObject({
    type: z.literal('command_output_contains').describe('The stdout of a command contains a text.'),
    command,
    substring,
    expect_exit: expectExit,
    timeout_secs: timeoutSecs,
    description,
  })
  .describe('Passes when the stdout of the command contains the text. stderr is not looked at.')

export const commandOutputContains = {
  type: 'command_output_contains',
  schema,
  async check(spec, context) {
    const run = await runForOutput(spec, context)
    if (run.kind === 'broken') return run.finding
    const passed = run.stdout.includes(spec.substring)
    const wanted = excerpt(spec.substring, 200)
    const verb = passed ? 'contains' : 'does not contain'
    const note = passed ? '' : truncationNote(run.truncated)
    return {
      passed,
      message: `stdout of ${commandName(spec.command)} ${verb} "${wanted}"${note}`,
      detail: { substring: excerpt(spec.substring), ...run.detail },
    }
  },
} satisfies Gate<z.output<typeof schema>>
