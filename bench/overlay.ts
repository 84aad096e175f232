import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startSandboxes } from '../scripts/sandboxes/start.ts'
import { testImages } from '../scripts/sandboxes/test-images.ts'
import { makeSharedDirectory } from '../src/io/shared-directory.ts'
import { bubblewrapEngine } from '../src/sandboxes/bubblewrap/engine.ts'
import type { SandboxEngine, SandboxRequest } from '../src/sandboxes/contract.ts'
import { dockerEngine } from '../src/sandboxes/docker/engine.ts'
import { type Figure, inTemporary, median } from './figure.ts'
import { makeRepository } from './tree-hash.ts'

const files = 50_000
const mostMs = 200
const rounds = 9

/** From the request to the first line of a step that has written to the workspace. */
export function overlayOnBubblewrap(): Promise<Figure> {
  return measure(bubblewrapEngine, 'none', process.env, {
    name: `overlay of ${files} files ready on bubblewrap`,
    limit: `at most ${mostMs} ms to the first step`,
    judged: ({ overlayMs }) => overlayMs,
  })
}

/** A container alone takes longer than that, so this measures what the overlay adds to a read-only one. */
export async function overlayOnDocker(): Promise<Figure> {
  const started = await startSandboxes()
  if (started.kind === 'absent') throw new Error(`this figure needs Docker Engine: ${started.why}`)
  const env = { ...process.env, DOCKER_HOST: started.dockerHost }
  return measure(dockerEngine, testImages.full, env, {
    name: `overlay of ${files} files ready on docker`,
    limit: `at most ${mostMs} ms over a read-only workspace`,
    judged: ({ addedMs }) => addedMs,
  })
}

interface Measured {
  readonly overlayMs: number
  readonly readonlyMs: number
  readonly addedMs: number
}

interface Promised {
  readonly name: string
  readonly limit: string
  readonly judged: (measured: Measured) => number
}

function measure(
  engine: SandboxEngine,
  image: string,
  variables: NodeJS.ProcessEnv,
  { name, limit, judged }: Promised,
): Promise<Figure> {
  return inTemporary(async (base) => {
    const repository = join(base, 'repository')
    mkdirSync(repository)
    await makeRepository(repository, files)
    const env = { ...defined(variables), XDG_CACHE_HOME: join(base, 'cache') }
    const ready = (workspace: SandboxRequest['workspace'], round: number): Promise<number> =>
      firstLineMs(engine, {
        repository,
        workspace,
        image,
        env,
        artifacts: join(base, `${workspace}-${round}`),
      })
    const overlayMs: number[] = []
    const readonlyMs: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      const pair = [await ready('readonly', round), await ready('overlay', round)] as const
      // The first time probes the engine and reads files from the disk.
      if (round === 0) continue
      readonlyMs.push(pair[0])
      overlayMs.push(pair[1])
    }
    const measured: Measured = {
      overlayMs: median(overlayMs),
      readonlyMs: median(readonlyMs),
      addedMs: median(overlayMs.map((ms, round) => ms - (readonlyMs[round] ?? Number.NaN))),
    }
    const ms = judged(measured)
    return { name, limit, ratio: ms / mostMs, ok: ms <= mostMs, detail: { ...measured, rounds } }
  })
}

type Place = Pick<SandboxRequest, 'repository' | 'workspace' | 'image' | 'env' | 'artifacts'>

async function firstLineMs(engine: SandboxEngine, place: Place): Promise<number> {
  makeSharedDirectory(place.artifacts)
  const signal = new AbortController().signal
  const startedMs = performance.now()
  const opening = await engine.open({
    ...place,
    runId: 'bench',
    network: 'none',
    limits: { memoryBytes: 2 ** 31, cpus: 4, pids: 256, diskBytes: 2 * 1024 ** 3 },
    caches: [],
    signal,
  })
  if (opening.kind !== 'open') throw new Error(`${engine.name}: ${JSON.stringify(opening)}`)
  const { sandbox } = opening
  try {
    let firstMs = Number.NaN
    const write = place.workspace === 'overlay' ? 'echo changed > d7/f7.txt && ' : ''
    const end = await sandbox.run({
      command: `${write}cat d7/f7.txt`,
      env: {},
      timeoutMs: 60_000,
      signal,
      output: () => {
        if (Number.isNaN(firstMs)) firstMs = performance.now() - startedMs
      },
    })
    if (end.kind !== 'exited' || end.exitCode !== 0) throw new Error(`the step: ${JSON.stringify(end)}`)
    return firstMs
  } finally {
    await sandbox.close()
  }
}

function defined(variables: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}
