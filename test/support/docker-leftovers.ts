import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { askOverUnixHttp } from '../../src/io/unix-http.ts'

/** Containers, volumes and layers of a run that are still there. */
export async function dockerLeftovers(
  runId: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`gantry.run=${runId}`] }))
  const containers = await ask(env, `/containers/json?all=true&filters=${filters}`)
  const volumes = await ask(env, `/volumes?filters=${filters}`)
  const layers = join(env.XDG_CACHE_HOME ?? '', 'gantry', 'sandboxes', 'docker')
  return [
    ...(containers as { readonly Id: string }[]).map(({ Id }) => `container ${Id}`),
    ...((volumes as { readonly Volumes: { readonly Name: string }[] | null }).Volumes ?? []).map(
      ({ Name }) => `volume ${Name}`,
    ),
    ...(existsSync(layers) ? readdirSync(layers).filter((name) => name.includes(runId)) : []),
  ]
}

async function ask(env: Readonly<Record<string, string>>, path: string): Promise<unknown> {
  const socketPath = (env.DOCKER_HOST ?? '').replace(/^unix:\/\//, '')
  const answer = await askOverUnixHttp({ socketPath, method: 'GET', path, timeoutMs: 600_000 })
  if (answer.kind !== 'answer' || answer.status !== 200) throw new Error(JSON.stringify(answer))
  return JSON.parse(answer.body)
}
