/** A copy of the object that lacks some of its fields. */
export function without(object: object, ...fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
