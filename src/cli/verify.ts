import { Command, Option } from 'commander'
import { sandboxNames } from '../sandboxes/contract.ts'
import type { CliContext } from './context.ts'
import type { VerifyFlags } from './run-verify.ts'

export function verifyCommand(context: CliContext): Command {
  return new Command('verify')
    .addOption(
      new Option(
        '--sandbox <engine>',
        'where the steps run; host is not a sandbox and is never chosen automatically',
      )
        .choices(['auto', ...sandboxNames])
        .default('auto'),
    )
    .option('--root <dir>', 'the repository (default: the one around the working directory)')
    .option('--config <file>', 'read this file instead of the agent.yaml of the repository')
    .option('-v, --verbose', 'show the output of the steps while they run')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText(
      'after',
      '\nExit codes: 0 PASS · 1 FAIL · 2 bad usage or agent.yaml · 3 INFRA_ERROR · 130 interrupted',
    )
    .action(async (flags: VerifyFlags) => {
      const { runVerify } = await import('./run-verify.ts')
      await runVerify(context, flags)
    })
}
