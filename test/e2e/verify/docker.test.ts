import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { testDocker } from '../../support/sandboxes.ts'
import type { TestProject } from '../support/project.ts'
import { runDir, runsIn, type Verification, verifiedProject, verifyJson } from './lab.ts'

const { dockerTest, dockerHost, image, noShellImage } = await testDocker()

async function inDocker(project: TestProject, whileRunning: () => void = () => {}) {
  const looking = setInterval(() => {
    const [run] = runsIn(project)
    if (run !== undefined && existsSync(join(runDir(project, run), 'logs/combined.log'))) whileRunning()
  }, 20)
  return verifyJson(project, ['--sandbox', 'docker'], { env: { DOCKER_HOST: dockerHost } }).finally(() =>
    clearInterval(looking),
  )
}

const withImage = (container_image: string, { verification, ...rest }: Verification): TestProject =>
  verifiedProject({ ...rest, verification: { container_image, ...verification } })

/** Names and labels of every container; they contain the id of a run. */
const containers = (): string =>
  execFileSync('docker', ['ps', '-a', '--no-trunc', '--format', '{{.Names}} {{.Labels}}'], {
    env: { ...process.env, DOCKER_HOST: dockerHost },
    encoding: 'utf8',
  })

describe('on Docker', () => {
  dockerTest(
    'steps run in a container, write to /artifacts only, and leave neither container nor change',
    async () => {
      using project = withImage(image, {
        steps: [
          'echo out > /artifacts/x; mktemp; touch "$TEST_DB_PATH/a.db"',
          'if echo bad > /workspace/a.txt; then exit 1; else exit 0; fi',
          'test "$(id -u)" != 0 && sleep 1',
        ],
      })
      let during = ''
      const { status, run_id, manifest, tail_log } = await inDocker(project, () => {
        during ||= containers()
      })
      expect(status, tail_log).toBe('PASS')
      expect(readFileSync(join(runDir(project, run_id), 'x'), 'utf8')).toBe('out\n')
      expect(existsSync(join(runDir(project, run_id), 'db/a.db'))).toBe(true)
      expect(manifest).toMatchObject({
        platform: { container_image: image },
        details: { tree_unchanged: true, sandbox: { engine: 'docker', sandboxed: true } },
      })
      expect(project.read('a.txt')).toBe('one\n')
      expect(during).toContain(run_id)
      expect(containers()).not.toContain(run_id)
    },
  )

  dockerTest(
    'an overlay is thrown away, a failing step is FAIL, and the steps after it are not run',
    async () => {
      using project = withImage(image, {
        steps: ['echo two > a.txt', 'grep -q two a.txt', 'exit 5', 'touch /artifacts/never'],
        verification: { workspace: 'overlay' },
      })
      const { status, failed_step, run_id } = await inDocker(project)
      expect(status).toBe('FAIL')
      expect(failed_step).toMatchObject({ index: 2, exit_code: 5 })
      expect(existsSync(join(runDir(project, run_id), 'never'))).toBe(false)
      expect(project.read('a.txt')).toBe('one\n')
    },
  )

  dockerTest('a step past its time is FAIL with 124', async () => {
    using project = withImage(image, {
      steps: [{ name: 'slow', command: 'sleep 1000 & sleep 1000', timeout: 1000 }],
    })
    expect(await inDocker(project)).toMatchObject({
      status: 'FAIL',
      failed_step: { exit_code: 124, timed_out: true },
    })
  })

  dockerTest('too little memory is a FAIL that says so', async () => {
    using project = withImage(image, {
      steps: ['node -e "const a=[];for(;;)a.push(Buffer.alloc(1e7,1))"'],
      verification: { limits: { memory: '64m' } },
    })
    expect(await inDocker(project)).toMatchObject({
      status: 'FAIL',
      failed_step: { exit_code: 137, killed: 'killed at 64m of memory' },
    })
  })

  dockerTest('an image without a shell is a clear INFRA_ERROR, never a FAIL of the project', async () => {
    using project = withImage(noShellImage, { steps: ['true'] })
    const { status, error_type, error_message } = await inDocker(project)
    expect({ status, error_type }).toEqual({ status: 'INFRA_ERROR', error_type: 'container_creation' })
    expect(error_message).toMatch(/\bsh\b/)
  })

  dockerTest('an image that is nowhere is image_pull, and leaves no run directory', async () => {
    using project = withImage('127.0.0.1:9/nowhere:1', { steps: ['true'] })
    const { status, error_type, run_id, manifest } = await inDocker(project)
    expect({ status, error_type, run_id, manifest }).toEqual({
      status: 'INFRA_ERROR',
      error_type: 'image_pull',
      run_id: null,
      manifest: null,
    })
    expect(runsIn(project)).toEqual([])
  })
})
