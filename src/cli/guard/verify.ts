import { Command } from 'commander'
import type { CliContext } from '../context.ts'

export function verifyCommand(context: CliContext): Command {
  return new Command('verify')
    .description('Run the declared verification commands and record evidence that no agent can fake.')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText(
      'after',
      '\nExit codes: 0 all green · 1 something failed or proves nothing · 3 a command could not be run · 4 no command is declared',
    )
    .action(async (flags: { readonly root?: string; readonly json?: boolean }) => {
      const { runVerify } = await import('./run-verify.ts')
      await runVerify(context, flags)
    })
}
