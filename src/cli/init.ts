import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { GantryError } from '../core/error.ts'
import { entryKind, isDirectory } from '../io/path-kind.ts'
import { plainLine } from '../report/plain-text.ts'
import type { CliContext } from './context.ts'

interface InitFlags {
  readonly root?: string
  readonly image?: string
  readonly print?: boolean
}

export function initCommand(context: CliContext): Command {
  return new Command('init')
    .option('--root <dir>', 'the repository (default: the one around the working directory)')
    .option('--image <name>', 'the image of the sandbox (default: chosen by the toolchain)')
    .option('--print', 'print the file and write nothing')
    .action((flags: InitFlags) => runInit(flags, context))
}

/** Writes or prints the proposed agent.yaml. */
export async function runInit({ root, image, print }: InitFlags, { cwd, stdout }: CliContext): Promise<void> {
  const { proposeAgentFile } = await import('../verifier/propose-agent-file.ts')
  const { lookAtProject } = await import('../guard-engine/project/look-at-project.ts')
  const { defaultSettings } = await import('../guard-engine/settings/settings.ts')
  const { writeFileAtomic } = await import('../io/files.ts')
  const { findGitTop } = await import('../io/find-git-top.ts')
  const directory = resolve(cwd, root ?? '.')
  if (!isDirectory(directory))
    throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
      hint: 'Name the repository with --root DIR.',
    })
  const repository = root === undefined ? (findGitTop(directory) ?? directory) : directory
  const path = join(repository, 'agent.yaml')
  // Any existing entry, even a dangling link, belongs to the user.
  if (print !== true && entryKind(path) !== null)
    throw new GantryError('USAGE', `${path} exists already`, {
      hint: 'Edit it by hand, or print the proposal with --print.',
    })
  const facts = await lookAtProject(repository, defaultSettings, { entries: false })
  const proposed = proposeAgentFile(facts, image)
  if (print === true) {
    stdout.write(proposed.text)
    return
  }
  writeFileAtomic(path, proposed.text)
  stdout.write(`Wrote ${path}: ${proposed.image}\n`)
  for (const { command, source } of proposed.steps)
    stdout.write(`  ${plainLine(command)}  (${plainLine(source)})\n`)
  stdout.write(
    proposed.steps.length === 0
      ? 'No verification command was found. Add one to the file: without it, gantry verify fails.\n'
      : 'Check it, then run: gantry verify\n',
  )
}
