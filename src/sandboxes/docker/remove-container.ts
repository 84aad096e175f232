import { callEngine } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'
import { needsNamedVolume } from './container-body.ts'
import type { MountedWorkspace } from './workspace.ts'

/** Ends and removes a container, its volume and its layers. What is left, one line each. */
export async function removeContainer(
  connection: EngineConnection,
  name: string,
  workspace: MountedWorkspace,
): Promise<readonly string[]> {
  const problem = await removeByName(connection, name)
  if (problem !== null) {
    abandoned.set(name, workspace.remove)
    return [problem]
  }
  if (needsNamedVolume(connection, workspace))
    await callEngine(connection, { method: 'DELETE', path: `/volumes/${name}`, query: { force: 'true' } })
  const left = await workspace.remove()
  return left === null ? [] : [`The layers of the workspace could not be removed: ${left}.`]
}

/** With the volumes that have no name of their own. null when it is gone. */
export async function removeByName(connection: EngineConnection, name: string): Promise<string | null> {
  const answer = await callEngine(connection, {
    method: 'DELETE',
    path: `/containers/${name}`,
    query: { force: 'true', v: 'true' },
  })
  if (answer.kind === 'done' || answer.kind === 'aborted') return null
  // 404: never made, or gone. 409: somebody else is about to remove it.
  if (answer.kind === 'refused' && (answer.status === 404 || answer.status === 409)) return null
  return `The container ${name} could not be removed: ${answer.message}.`
}

/**
 * Containers of this process that could not be removed when they were closed, for want of an engine, and how their layers are removed.
 * The next sweep may take them.
 */
export const abandoned: Map<string, () => Promise<string | null>> = new Map()
