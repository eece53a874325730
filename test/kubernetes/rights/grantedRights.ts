import { z } from 'zod';

const ruleSchema = z.strictObject({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
const roleSchema = z.object({
  kind: z.enum(['ClusterRole', 'Role']),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(ruleSchema),
});
const bindingSchema = z.object({
  kind: z.enum(['ClusterRoleBinding', 'RoleBinding']),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  roleRef: z.object({ kind: z.string(), name: z.string() }),
  subjects: z.array(z.object({ kind: z.string(), name: z.string(), namespace: z.string().optional() })),
});
type Binding = z.infer<typeof bindingSchema>;

/** Whom a role is bound to. */
export interface Subject {
  readonly kind: 'ServiceAccount' | 'Group';
  readonly name: string;
  readonly namespace?: string;
}

/** The smallest thing that a rule allows: one verb on one resource. */
export interface Right {
  /** The role that it stands in, for people. */
  readonly role: string;
  readonly verb: string;
  readonly apiGroup: string;
  /** With its subresource, as `pods/eviction`. */
  readonly resource: string;
  /** Undefined: everywhere. */
  readonly namespace: string | undefined;
  /** Undefined: whatever its name is. */
  readonly name: string | undefined;
}

function isBoundTo(subject: Subject, { subjects }: Binding): boolean {
  return subjects.some(
    ({ kind, name, namespace }) => kind === subject.kind && name === subject.name && namespace === subject.namespace,
  );
}

/**
 * All that a subject is allowed by these manifests.
 * @throws Error when a binding names a role that is not among them, or a rule has a field that is not known here
 */
export function grantedRights(manifests: readonly unknown[], subject: Subject): readonly Right[] {
  const roles = manifests.flatMap((manifest) => ofKind(manifest, 'Role', roleSchema));
  const bindings = manifests.flatMap((manifest) => ofKind(manifest, 'RoleBinding', bindingSchema));
  return bindings
    .filter((binding) => isBoundTo(subject, binding))
    .flatMap(({ metadata: { name, namespace }, roleRef }) => {
      const role = roles.find(
        (other) =>
          other.kind === roleRef.kind &&
          other.metadata.name === roleRef.name &&
          (other.kind === 'ClusterRole' || other.metadata.namespace === namespace),
      );
      if (role === undefined) throw new Error(`${name} binds ${roleRef.kind} ${roleRef.name}, which is not there`);
      const where = namespace === undefined ? '' : ` in ${namespace}`;
      return role.rules.flatMap((rule) => rightsOf(rule, `${roleRef.kind} ${roleRef.name}${where}`, namespace));
    });
}

function ofKind<T>(manifest: unknown, kind: string, schema: z.ZodType<T>): T[] {
  const parsed = z.object({ kind: z.string() }).parse(manifest);
  return parsed.kind === kind || parsed.kind === `Cluster${kind}` ? [schema.parse(manifest)] : [];
}

function rightsOf(rule: z.infer<typeof ruleSchema>, role: string, namespace: string | undefined): readonly Right[] {
  const { resourceNames = [] } = rule;
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return rule.apiGroups.flatMap((apiGroup) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) => names.map((name) => ({ role, verb, apiGroup, resource, namespace, name }))),
    ),
  );
}
