import type { SkillComponent } from '../../analyze/contract.ts'
import type { TemplateScenarios, UnnamedScenario } from '../component-record.ts'

/**
 * A skill that no model can invoke is not tested by wording: a user types its name, or it never starts. null for a skill
 * that a model does choose.
 */
export function skillTemplates(skill: SkillComponent): TemplateScenarios | null {
  if (!skill.disable_model_invocation) return null
  const { name, cli_name, triggers } = skill
  if (!skill.user_invocable)
    return { scenarios: [], skipped: 'it can be invoked neither by a model nor by a person' }
  const facts = {
    component_ref: name,
    expected_component: name,
    component_type: 'skill' as const,
    origin: 'template' as const,
  }
  const typed = (suffix: string, user_prompt: string, reasoning: string): UnnamedScenario => ({
    ...facts,
    suffix,
    scenario_type: 'direct',
    user_prompt,
    expected_trigger: true,
    reasoning,
  })
  return {
    scenarios: [
      typed('basic', `/${cli_name}`, 'The skill as a person types it.'),
      typed('with-args', `/${cli_name} test-value`, 'The skill as a person types it, with one argument.'),
      {
        ...facts,
        suffix: 'model-invocation-blocked',
        scenario_type: 'negative',
        user_prompt: triggers[0] ?? `Could you use the ${name} skill?`,
        expected_trigger: false,
        reasoning: 'The skill says that a model cannot invoke it.',
      },
    ],
  }
}
