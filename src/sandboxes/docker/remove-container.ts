import { callEngine } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'
import type { MountedPlaces } from './workspace.ts'

/** Ends and removes a container, its volumes and its layers. Returns what is left, one line each. */
export async function removeContainer(
  connection: EngineConnection,
  name: string,
  places: MountedPlaces,
): Promise<readonly string[]> {
  const problem = await removeByName(connection, name)
  if (problem !== null) {
    abandoned.set(name, places.remove)
    return [problem]
  }
  await Promise.all(
    places.volumes.map(({ Name }) =>
      callEngine(connection, { method: 'DELETE', path: `/volumes/${Name}`, query: { force: 'true' } }),
    ),
  )
  const left = await places.remove()
  return left === null ? [] : [`The layers of the workspace could not be removed: ${left}.`]
}

/** With its anonymous volumes. null when it is gone. */
export async function removeByName(connection: EngineConnection, name: string): Promise<string | null> {
  const answer = await callEngine(connection, {
    method: 'DELETE',
    path: `/containers/${name}`,
    query: { force: 'true', v: 'true' },
  })
  if (answer.kind === 'done' || answer.kind === 'aborted') return null
  // 404: never created, or gone. 409: already being removed.
  if (answer.kind === 'refused' && (answer.status === 404 || answer.status === 409)) return null
  return `The container ${name} could not be removed: ${answer.message}.`
}

/**
 * Containers of this process that could not be removed when they were closed, because the engine was gone, and how to
 * remove their layers. The next sweep may remove them.
 */
export const abandoned: Map<string, () => Promise<string | null>> = new Map()
