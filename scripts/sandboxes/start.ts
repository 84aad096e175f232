import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRoot } from '../../src/io/is-root.ts'
import { acquireLock, type Lock } from '../../src/io/lock.ts'
import { installPackages } from './packages.ts'
import { answers, engineDirectory, ownHost, startEngine } from './test-engine.ts'
import { importImages, testImages } from './test-images.ts'
import { buildToolchainImage } from './toolchain-image.ts'

export type StartedSandboxes =
  | { readonly kind: 'ready'; readonly dockerHost: string; readonly images: readonly string[] }
  | { readonly kind: 'absent'; readonly why: string }

/** Safe to run twice at once: the second waits and uses what the first made. */
export async function startSandboxes(withToolchains = false): Promise<StartedSandboxes> {
  if (process.platform !== 'linux') return { kind: 'absent', why: 'they need Linux.' }
  if (!isRoot()) return borrowedEngine(withToolchains)
  mkdirSync(engineDirectory, { recursive: true })
  const lock = await waitForLock(join(engineDirectory, 'starting.lock'))
  try {
    const problem =
      installPackages(withToolchains) ?? (await startEngine()) ?? makeImages(ownHost, withToolchains)
    return problem === null ? ready(ownHost) : { kind: 'absent', why: problem }
  } finally {
    lock.release()
  }
}

/** Without root no engine can be started, but one that root started before, or the machine's own, can be used. */
async function borrowedEngine(withToolchains: boolean): Promise<StartedSandboxes> {
  const hosts = [ownHost, process.env.DOCKER_HOST, 'unix:///var/run/docker.sock']
  for (const host of hosts)
    if (host !== undefined && host !== '' && (await answers(host))) {
      const problem = makeImages(host, withToolchains)
      return problem === null ? ready(host) : { kind: 'absent', why: problem }
    }
  return { kind: 'absent', why: 'no engine is running, and only root can start one.' }
}

function makeImages(dockerHost: string, withToolchains: boolean): string | null {
  return importImages(dockerHost) ?? (withToolchains ? buildToolchainImage(dockerHost) : null)
}

function ready(dockerHost: string): StartedSandboxes {
  return { kind: 'ready', dockerHost, images: Object.values(testImages) }
}

async function waitForLock(path: string): Promise<Lock> {
  for (;;) {
    const lock = acquireLock(path, { label: 'start-sandboxes' })
    if (lock !== null) return lock
    await sleep(100)
  }
}
