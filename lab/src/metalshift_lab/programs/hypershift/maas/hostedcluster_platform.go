// SPDX-FileCopyrightText: 2026 The metalshift.maas authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Package maas is the lab's stand-in for the MAAS platform of the fork: the same objects, names and messages.
package maas

import (
	"context"
	"fmt"
	"os"

	hyperv1 "github.com/openshift/hypershift/api/hypershift/v1beta1"
	"github.com/openshift/hypershift/support/upsert"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	defaultDomain   = "maas.local"
	defaultImage    = "us-docker.pkg.dev/palette-images/palette/cluster-api-maas/cluster-api-provider-maas-controller:v0.6.1-spectro-4.7.0"
	imageAnnotation = "hypershift.openshift.io/capi-provider-maas-image"
	imageVariable   = "IMAGE_MAAS_CAPI_PROVIDER"
)

// credentialKeys are what the Secret of identityRef must hold; they become environment variables of the provider.
var credentialKeys = []string{"MAAS_ENDPOINT", "MAAS_API_KEY"}

// MAAS is what the controller of HostedClusters asks about the platform.
type MAAS struct{}

func settings(cluster *hyperv1.HostedCluster, wanted string) (*hyperv1.MAASPlatformSpec, error) {
	if cluster.Spec.Platform.MAAS == nil {
		return nil, fmt.Errorf("failed to reconcile MAAS %s, empty MAAS platform spec", wanted)
	}
	return cluster.Spec.Platform.MAAS, nil
}

func labels(cluster *hyperv1.HostedCluster) map[string]string {
	return map[string]string{"hypershift.openshift.io/cluster": cluster.Name, "platform": "maas"}
}

// ReconcileCAPIInfraCR writes the MaasCluster, which has the name of the HostedCluster.
func (MAAS) ReconcileCAPIInfraCR(ctx context.Context, c client.Client, createOrUpdate upsert.CreateOrUpdateFN, cluster *hyperv1.HostedCluster, namespace string, endpoint hyperv1.APIEndpoint) (client.Object, error) {
	spec, err := settings(cluster, "CAPI cluster")
	if err != nil {
		return nil, err
	}
	domain := spec.DNSDomain
	if domain == "" {
		domain = defaultDomain
	}
	infrastructure := &unstructured.Unstructured{}
	infrastructure.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	infrastructure.SetKind("MaasCluster")
	infrastructure.SetNamespace(namespace)
	infrastructure.SetName(cluster.Name)
	infrastructure.SetLabels(labels(cluster))
	_, err = createOrUpdate(ctx, c, infrastructure, func() error {
		annotations := infrastructure.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["spectrocloud.com/custom-dns-provided"] = ""
		infrastructure.SetAnnotations(annotations)
		return unstructured.SetNestedField(infrastructure.Object, map[string]any{
			"dnsDomain":            domain,
			"controlPlaneEndpoint": map[string]any{"host": endpoint.Host, "port": int64(endpoint.Port)},
		}, "spec")
	})
	if err != nil {
		return nil, fmt.Errorf("failed to create or update MAAS cluster: %w", err)
	}
	return infrastructure, nil
}

// CAPIProviderDeploymentSpec describes the pod of the Cluster API provider.
func (MAAS) CAPIProviderDeploymentSpec(cluster *hyperv1.HostedCluster, _ *hyperv1.HostedControlPlane) (*appsv1.DeploymentSpec, error) {
	spec, err := settings(cluster, "CAPI provider")
	if err != nil {
		return nil, err
	}
	env := []corev1.EnvVar{{
		Name:      "NAMESPACE",
		ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
	}}
	for _, key := range credentialKeys {
		env = append(env, corev1.EnvVar{Name: key, ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: spec.IdentityRef.Name}, Key: key},
		}})
	}
	env = append(env, corev1.EnvVar{Name: "MAAS_ZONE", Value: spec.Zone})
	return &appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name:  "maas-capi-controller",
		Image: providerImage(cluster),
		Args:  []string{"--v=2", "--leader-elect=true", "--sync-period=15m", "--namespace=$(NAMESPACE)"},
		Env:   env,
	}}}}}, nil
}

// providerImage is what the operator was told, else what the HostedCluster says, else the fork's own.
func providerImage(cluster *hyperv1.HostedCluster) string {
	for _, image := range []string{os.Getenv(imageVariable), cluster.Annotations[imageAnnotation]} {
		if image != "" {
			return image
		}
	}
	return defaultImage
}

// ReconcileCredentials copies the Secret of MAAS once: like the fork's, a copy that exists stays as it is.
func (MAAS) ReconcileCredentials(ctx context.Context, c client.Client, createOrUpdate upsert.CreateOrUpdateFN, cluster *hyperv1.HostedCluster, namespace string) error {
	spec, err := settings(cluster, "credentials")
	if err != nil {
		return err
	}
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: spec.IdentityRef.Name}}
	if err := c.Get(ctx, client.ObjectKeyFromObject(source), source); err != nil {
		return fmt.Errorf("failed to get MAAS credentials secret: %w", err)
	}
	for _, key := range credentialKeys {
		if _, found := source.Data[key]; !found {
			return fmt.Errorf("MAAS credentials secret is missing required key: %s", key)
		}
	}
	target := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: source.Name, Labels: labels(cluster)},
		Type:       corev1.SecretTypeOpaque,
		Data:       source.Data,
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(target), &corev1.Secret{}); !apierrors.IsNotFound(err) {
		return err
	}
	_, err = createOrUpdate(ctx, c, target, func() error { return nil })
	return err
}

// ReconcileSecretEncryption has nothing to do on MAAS.
func (MAAS) ReconcileSecretEncryption(context.Context, client.Client, upsert.CreateOrUpdateFN, *hyperv1.HostedCluster, string) error {
	return nil
}

// CAPIProviderPolicyRules adds nothing to what every provider may do.
func (MAAS) CAPIProviderPolicyRules() []rbacv1.PolicyRule { return nil }

// DeleteCredentials deletes what the fork deletes, which is not the copy unless that has the name the fork's CLI gives.
func (MAAS) DeleteCredentials(ctx context.Context, c client.Client, cluster *hyperv1.HostedCluster, namespace string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster.Name + "-maas-credentials"}}
	return client.IgnoreNotFound(c.Delete(ctx, secret))
}
