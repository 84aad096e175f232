import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import type { HookPlace, HookScope } from '../../agents/hook-installer.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { GantryError } from '../../core/error.ts'
import { findRoot } from '../../guard-engine/ledger/ledger-place.ts'
import { homeDirectory } from '../../io/host.ts'
import { isDirectory } from '../../io/path-kind.ts'
import type { CliContext } from '../context.ts'

export interface HookFlags {
  readonly agent?: readonly HookedAgent[]
  readonly scope: HookScope
  readonly root?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `--agent a --agent b` or `--agent a,b`. */
export function agentNames(value: string, before: readonly HookedAgent[] = []): readonly HookedAgent[] {
  const names = value.split(',').map((name) => {
    const found = installableAgents.find((agent) => agent === name.trim())
    if (found === undefined) throw new InvalidArgumentError(`Write one of: ${installableAgents.join(', ')}.`)
    return found
  })
  return [...new Set([...before, ...names])]
}

/** Whose hooks: the project around the working directory unless `--root` names another. */
export function hookPlace({ cwd, env }: CliContext, root: string | undefined): HookPlace {
  const directory = resolve(cwd, root ?? '.')
  if (!isDirectory(directory)) {
    throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
      hint: 'Name the project with --root DIR.',
    })
  }
  return { root: findRoot(directory), home: homeDirectory(env), env }
}
