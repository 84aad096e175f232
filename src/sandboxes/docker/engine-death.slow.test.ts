import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { answers, enginePid, launchEngine, stopEngine } from '../../../scripts/sandboxes/test-engine.ts'
import { importSmallImage } from '../../../scripts/sandboxes/test-images.ts'
import { isAlive } from '../../../test/support/is-alive.ts'
import { runInSandbox, sandboxRequest } from '../../../test/support/open-sandbox.ts'
import { testDocker } from '../../../test/support/sandboxes.ts'
import { dockerEngine } from './engine.ts'

const { dockerTest, env } = await testDocker()

dockerTest(
  'an engine killed in the middle of a step is unavailable, the step has ended, and the next sweep removes the rest',
  async () => {
    const directory = { path: mkdtempSync(join(tmpdir(), 'gantry-engine-')) }
    const dockerHost = `unix://${join(directory.path, 'docker.sock')}`
    onTestFinished(async () => {
      await stopEngine(directory.path)
      removeEngine(directory.path)
    })
    await startAgain(directory.path, dockerHost)
    importSmallImage(dockerHost, 'small:local')
    const request = sandboxRequest({
      image: 'small:local',
      env: { ...env, DOCKER_HOST: dockerHost },
      workspace: 'overlay',
    })
    const opening = await dockerEngine.open(request)
    if (opening.kind !== 'open') throw new Error(JSON.stringify(opening))
    const { sandbox } = opening
    const engine = enginePid(directory.path) ?? 0
    let killed = false
    // A length that no other process on this machine sleeps for.
    const seconds = `400.${process.pid}`
    const ran = await runInSandbox(sandbox, `echo started; exec sleep ${seconds}`, {
      output: () => {
        if (!killed) process.kill(engine, 'SIGKILL')
        killed = true
      },
    })
    expect(ran.end).toMatchObject({ kind: 'failed', failure: { type: 'docker_unavailable' } })
    expect(isAlive(engine)).toBe(false)
    expect(spawnSync('pgrep', ['-f', `^sleep ${seconds}$`], { encoding: 'utf8' }).stdout).toBe('')
    expect(await runInSandbox(sandbox, 'true')).toMatchObject({ end: { kind: 'failed' } })
    expect(await sandbox.close()).toEqual([expect.stringContaining('could not be removed')])
    expect(await dockerEngine.open(request)).toMatchObject({
      kind: 'failed',
      failure: { type: 'docker_unavailable' },
    })

    await startAgain(directory.path, dockerHost)
    const swept = await dockerEngine.sweep({ env: request.env })
    expect(swept).toContainEqual(expect.stringMatching(/^removed the sandbox gantry-run_test-/))
    expect(await dockerEngine.sweep({ env: request.env })).toEqual([])
  },
)

/** A killed engine leaves its containerd behind for a moment; a new engine would use that one. */
async function startAgain(directory: string, dockerHost: string): Promise<void> {
  const containerd = join(directory, 'exec', 'containerd', 'containerd.pid')
  while (existsSync(containerd) && isAlive(Number(readFileSync(containerd, 'utf8')))) await sleep(50)
  await launchEngine(directory)
  while (!(await answers(dockerHost))) await sleep(50)
}

/** The mounts of a killed engine stay mounted. */
function removeEngine(directory: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
    .filter((path) => path.startsWith(`${directory}/`))
  for (const path of mounts.reverse()) spawnSync('umount', ['--lazy', path])
  rmSync(directory, { recursive: true, force: true })
}
