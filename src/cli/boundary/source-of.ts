import { resolve } from 'node:path'
import type { ModelSource } from '../../models/boundary/model-link.ts'
import { readBoundaryScript } from '../../models/boundary/script/read-boundary-script.ts'
import { upstreamFrom } from '../../models/boundary/upstream.ts'
import type { CliContext } from '../context.ts'

/** The script when there is one, else the providers the caller's variables lead to. */
export function sourceOf(script: string | undefined, { cwd, env }: CliContext): ModelSource {
  if (script !== undefined) return { kind: 'script', script: readBoundaryScript(resolve(cwd, script)) }
  return { kind: 'provider', upstream: upstreamFrom(env) }
}
