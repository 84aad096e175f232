import { Command } from 'commander'
import type { CliContext } from './context.ts'

interface InitFlags {
  readonly root?: string
  readonly image?: string
  readonly print?: boolean
}

export function initCommand(context: CliContext): Command {
  return new Command('init')
    .description(
      'Write an agent.yaml for this repository: its image and the commands that verify it, by what is in it.',
    )
    .option('--root <dir>', 'the repository (default: the one around the working directory)')
    .option('--image <name>', 'the image of the sandbox (default: by the toolchain that was found)')
    .option('--print', 'print the file and write nothing')
    .action(async (flags: InitFlags) => {
      const { runInit } = await import('./run-init.ts')
      await runInit(flags, context)
    })
}
