import { modelAccess } from '../../models/model-access.ts'
import { selectModel } from '../../models/select-model.ts'
import type { Finding } from './finding.ts'

/** Which models Gantry itself could ask now: for judges, Scouts and the builtin agent. */
export function lookAtModels(env: Readonly<Record<string, string | undefined>>): readonly Finding[] {
  const providers = modelAccess(env)
  const usable = providers.some((provider) => provider.usable)
  return [
    ...providers.map(
      ({ provider, usable: isUsable, detail }): Finding => ({
        area: 'models',
        name: provider,
        status: isUsable ? 'ok' : 'missing',
        detail,
      }),
    ),
    {
      area: 'models',
      name: 'default',
      status: usable ? 'ok' : 'missing',
      detail: defaultModel(env),
    },
  ]
}

function defaultModel(env: Readonly<Record<string, string | undefined>>): string {
  try {
    return selectModel(env) ?? 'cannot proceed without model access; scripted models and cassettes need none'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
