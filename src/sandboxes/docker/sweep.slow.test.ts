import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { openSandbox, runInSandbox, sandboxRequest } from '../../../test/support/open-sandbox.ts'
import { testDocker } from '../../../test/support/sandboxes.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { dockerEngine } from './engine.ts'

const { dockerTest, env, image } = await testDocker()

dockerTest(
  'the sandbox of a killed owner is removed with its layers; that of a living one is kept',
  async () => {
    const cache = temporaryDirectory('gantry-cache-')
    onTestFinished(() => cache[Symbol.dispose]())
    const ours = { ...env, XDG_CACHE_HOME: cache.path }
    const living = await openSandbox(dockerEngine, { image, env: ours, workspace: 'overlay' })
    const { signal: _, ...request } = sandboxRequest({
      image,
      env: ours,
      workspace: 'overlay',
      runId: 'run_killed',
    })
    const module = new URL('./engine.ts', import.meta.url).href
    const program = `
    const { dockerEngine } = await import(${JSON.stringify(module)})
    const request = ${JSON.stringify(request)}
    const { kind } = await dockerEngine.open({ ...request, signal: new AbortController().signal })
    process.stdout.write(kind)
    setInterval(() => {}, 1000)`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await once(owner.stdout, 'data')
    expect(String(said)).toBe('open')
    expect((await dockerEngine.sweep({ env: ours })).filter((line) => line.includes('run_killed'))).toEqual(
      [],
    )
    owner.kill('SIGKILL')
    await once(owner, 'exit')

    const swept = await dockerEngine.sweep({ env: ours })
    expect(swept).toContainEqual(expect.stringMatching(/^removed the sandbox gantry-run_killed-\w+$/))
    const layers = readdirSync(join(cache.path, 'gantry', 'sandboxes', 'docker'))
    expect(layers.filter((name) => name.includes('run_killed'))).toEqual([])
    expect(existsSync(join(request.repository, 'README.md'))).toBe(true)
    expect((await runInSandbox(living.sandbox, 'cat README.md')).output).toBe('# readme\n')
  },
)
