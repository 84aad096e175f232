import type { ToolCall } from '../core/hook-event.ts'
import { type CallTargets, interpret, patchedPaths, scanPowerShell } from '../shell/index.ts'
import type { World } from '../shell/world.ts'
import { toolInputTargets } from './tool-input-targets.ts'

export type { CallTargets, FilledDirectory, OpaquePart, WriteTarget } from '../shell/index.ts'

/** The same for every tool: file tools, patches, shells, MCP tools. */
export function callTargets(call: ToolCall, cwd: string, world: World): CallTargets {
  const seen = answers.get(call)
  if (seen !== undefined && seen.cwd === cwd && seen.world === world) return seen.targets
  const targets = findTargets(call, cwd, world)
  answers.set(call, { cwd, world, targets })
  return targets
}

/** Several rules need the targets of the same call. */
const answers = new WeakMap<
  ToolCall,
  { readonly cwd: string; readonly world: World; readonly targets: CallTargets }
>()

function findTargets({ tool, action, input }: ToolCall, cwd: string, world: World): CallTargets {
  switch (action.kind) {
    case 'shell': {
      const directory = action.directory === undefined ? cwd : absolute(action.directory, cwd, world)
      return action.language === 'powershell'
        ? scanPowerShell(action.command)
        : interpret(action.command, directory, world)
    }
    case 'write':
      return files([[action.path, 'writes it']])
    case 'edit':
      return files([[action.path, 'edits it']])
    case 'patch': {
      const named = action.files.flatMap(({ path, change, to }): [string, string][] => [
        [path, change === 'delete' ? 'the patch removes it' : 'the patch changes it'],
        ...(to === undefined ? [] : [[to, 'the patch moves a file to it'] as [string, string]]),
      ])
      return files([
        ...named,
        ...patchedPaths(action.text, 0).map((path): [string, string] => [path, 'the patch changes it']),
      ])
    }
    case 'read':
    case 'subagent':
      return nothing
    case 'unknown':
      return toolInputTargets({ tool, input, cwd, world })
  }

  function files(named: readonly (readonly [string, string])[]): CallTargets {
    const writes = named.map(([path, how]) => ({ path: absolute(path, cwd, world), how, written: path }))
    return { ...nothing, writes }
  }
}

const nothing: CallTargets = { writes: [], runs: [], opaque: [] }

function absolute(path: string, cwd: string, world: World): string {
  if (path.startsWith('/')) return path
  if (path === '~' || path.startsWith('~/')) return `${world.home}${path.slice(1)}`
  return `${cwd}/${path}`
}
