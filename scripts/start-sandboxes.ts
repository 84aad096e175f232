// Starts a Docker Engine for the tests and makes the images they use: `node scripts/start-sandboxes.ts [stop]`.
// Skips what is already done, so it can run before every test run.
import { startSandboxes } from './sandboxes/start.ts'
import { stopEngine } from './sandboxes/test-engine.ts'

if (process.argv[2] === 'stop') await stopEngine()
else {
  const started = await startSandboxes()
  if (started.kind === 'ready') {
    console.log(`Docker Engine for tests: export DOCKER_HOST=${started.dockerHost}`)
    console.log(`Images: ${started.images.join(', ')}`)
  } else {
    console.error(`Tests in Docker are skipped: ${started.why}`)
    if (process.env.CI === 'true') process.exit(3)
  }
}
