import type { test } from 'vitest'
import { startSandboxes } from '../../scripts/sandboxes/start.ts'
import { testImages } from '../../scripts/sandboxes/test-images.ts'
import { toolchainImage } from '../../scripts/sandboxes/toolchain-image.ts'
import { needs } from './needs.ts'

/** A Docker Engine for tests, with its images. Started when it does not run yet. */
export interface TestDocker {
  /** For `DOCKER_HOST`. */
  readonly dockerHost: string
  /** Has sh, bash, node, npm, git, python3, perl, make and cc. */
  readonly image: string
  /** Has no shell. */
  readonly noShellImage: string
  /** The environment of this process, with `DOCKER_HOST`. */
  readonly env: Readonly<Record<string, string>>
  /** `test` when the engine runs; else skipped with a warning. With CI=true it fails instead. */
  readonly dockerTest: typeof test
}

/**
 * `const { dockerTest, env, image } = await testDocker()` at the top of a test file. With toolchains the image has cargo, CMake,
 * Meson and gcc too; where root runs the tests, so has the machine.
 */
export async function testDocker({ toolchains = false } = {}): Promise<TestDocker> {
  const started = await startSandboxes(toolchains)
  if (started.kind === 'absent') console.warn(started.why)
  const dockerHost = started.kind === 'ready' ? started.dockerHost : 'unix:///nonexistent/docker.sock'
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return {
    dockerHost,
    image: toolchains ? toolchainImage : testImages.full,
    noShellImage: testImages.noShell,
    env: { ...Object.fromEntries(own), DOCKER_HOST: dockerHost },
    dockerTest: needs('Docker Engine', started.kind === 'ready'),
  }
}
