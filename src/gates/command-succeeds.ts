import { z } from 'zod'
import type { Gate } from './contract.ts'
import { command, description, timeoutSecs } from './fields.ts'
import { commandName, exitText, runCommand } from './run-command.ts'

const schema = z
  .strictObject({
    type: z.literal('command_succeeds').describe('A command exits with 0.'),
    command,
    timeout_secs: timeoutSecs,
    description,
  })
  .describe('Passes when the command exits with 0.')

export const commandSucceeds = {
  type: 'command_succeeds',
  schema,
  async check(spec, context) {
    const run = await runCommand(spec, context)
    if (run.kind === 'broken') return run.finding
    const message = `${commandName(spec.command)} exited with ${exitText(run.exitCode)}`
    return { passed: run.exitCode === 0, message, detail: run.detail }
  },
} satisfies Gate<z.output<typeof schema>>
