import { asObject, asObjects, asString, asStrings } from '../../core/json-fields.ts'
import type { EngineContext, SandboxEngine } from '../contract.ts'
import { sweepStates } from '../state.ts'
import { callEngine, type EngineAnswer } from './call-engine.ts'
import { type EngineConnection, knownConnection, probeDocker } from './connect-engine.ts'
import { isOwnerDead, runLabel } from './container-body.ts'
import { openContainer } from './open-container.ts'
import { abandoned, removeByName } from './remove-container.ts'

/** Containers first, then their volumes, then the layers of these. Layers are removed even without an engine. */
async function sweepDocker(context: EngineContext): Promise<readonly string[]> {
  const notes: string[] = []
  const connection = await knownConnection(context)
  if (connection !== null) {
    const list = (path: string, query: Readonly<Record<string, string>>) =>
      callEngine(connection, { method: 'GET', path, query: { ...query, ...labelled } })
    const [containers, volumes] = await Promise.all([
      list('/containers/json', { all: 'true' }),
      list('/volumes', {}),
    ])
    notes.push(...(await sweepContainers(connection, containers)))
    notes.push(...(await sweepVolumes(connection, volumes)))
  }
  notes.push(...(await sweepStates('docker', context.env)))
  // A container and its layers have the same name, and are reported as one.
  return [...new Set(notes)]
}

const labelled = { filters: JSON.stringify({ label: [runLabel] }) }

async function sweepContainers(
  connection: EngineConnection,
  answer: EngineAnswer,
): Promise<readonly string[]> {
  const removed: string[] = []
  for (const { Id, Names, Labels } of asObjects(answer.kind === 'done' ? answer.value : null)) {
    const id = asString(Id) ?? ''
    const name = (asStrings(Names)?.[0] ?? id).replace(/^\//, '')
    if (id === '' || (!isOwnerDead(asObject(Labels)) && !abandoned.has(name))) continue
    removed.push((await removeByName(connection, id)) ?? `removed the sandbox ${name}`)
  }
  for (const [name, removeLayers] of abandoned)
    if ((await removeByName(connection, name)) === null && (await removeLayers()) === null)
      abandoned.delete(name)
  return removed
}

async function sweepVolumes(connection: EngineConnection, answer: EngineAnswer): Promise<readonly string[]> {
  const listed = answer.kind === 'done' ? asObject(answer.value)?.Volumes : null
  const removed: string[] = []
  for (const { Name, Labels } of asObjects(listed)) {
    if (typeof Name !== 'string' || !isOwnerDead(asObject(Labels))) continue
    const gone = await callEngine(connection, { method: 'DELETE', path: `/volumes/${Name}` })
    // The name of its container, and a number.
    if (gone.kind === 'done') removed.push(`removed the sandbox ${Name.replace(/-\d+$/, '')}`)
    else if (gone.kind === 'refused' && gone.status !== 404)
      removed.push(`the volume ${Name} could not be removed: ${gone.message}`)
  }
  return removed
}

/** A container of Docker, or of Podman, through the socket of its engine. */
export const dockerEngine: SandboxEngine = {
  name: 'docker',
  probe: probeDocker,
  open: openContainer,
  sweep: sweepDocker,
}
