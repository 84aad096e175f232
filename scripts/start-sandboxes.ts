// Gives the tests a Docker Engine of their own and the images they use: `node scripts/start-sandboxes.ts [stop]`.
// Does nothing that is done already, so it may be run before every test run.
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
